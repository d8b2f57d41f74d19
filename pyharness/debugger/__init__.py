"""The core: one debugged program seen through debugpy and gdb at once."""
