"""The stack of a thread: native frames, merged with the Python frames."""
