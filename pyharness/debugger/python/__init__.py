"""The Python half: debugpy in the program, and what the core asks of it."""
