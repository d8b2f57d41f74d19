"""What ``blame`` is made of: the faults, the jobs, the tools, and the rule of the grades."""
