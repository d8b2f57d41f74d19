"""Looks at what debugging needs, on this machine or in one process, and says what is missing and what to do."""
