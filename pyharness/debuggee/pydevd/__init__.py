"""All that touches pydevd, the debugger within debugpy, and its private modules."""
