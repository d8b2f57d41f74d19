"""Runs inside gdb: standard library and pyharness.model only."""
