"""CPython's own structures, from memory alone."""
