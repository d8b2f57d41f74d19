"""Breakpoints and exceptions, as a client sets them."""
