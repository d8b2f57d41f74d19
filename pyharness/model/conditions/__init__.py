"""Conditions, hit counts and messages of breakpoints, as they are written."""
