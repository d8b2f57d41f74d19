"""The memory of a process or a core file, and what is mapped into it."""
