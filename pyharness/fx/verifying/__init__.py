"""Compares a transformed graph with its original, and finds the first node that makes a difference."""
