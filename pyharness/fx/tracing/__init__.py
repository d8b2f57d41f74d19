"""Tracers that remember where each node came from, and what becomes of that in copies and pickles."""
