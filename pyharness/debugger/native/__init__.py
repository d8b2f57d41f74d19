"""The native half: gdb, and what the core asks of it."""
