"""A core file in place of a program."""
