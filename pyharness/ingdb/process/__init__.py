"""The stopped process or core file: its memory, its mapped files, how gdb comes to it."""
