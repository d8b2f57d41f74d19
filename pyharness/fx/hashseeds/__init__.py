"""Runs a transform under several hash seeds, and notes where it depends on the order of a set."""
