"""Runs a transform under several hash seeds, and reads its source for what depends on the order of a set."""
