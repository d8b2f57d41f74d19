"""Stops at lines of Python for gdb, without debugpy."""
