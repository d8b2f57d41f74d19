"""Frozen data that every process shares: frames, source maps, errors. Standard library only."""
