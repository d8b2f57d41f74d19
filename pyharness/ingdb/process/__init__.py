"""The stopped process or core file in gdb: its mapped files, and how gdb comes to it."""
