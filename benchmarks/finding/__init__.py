"""Twelve bugs, planted, and how an agent without a model finds each: by our tools, and by gdb and pdb in batch mode."""
