"""Functions of native code: their names, places and callers."""
