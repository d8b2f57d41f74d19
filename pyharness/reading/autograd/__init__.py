"""Nodes of the autograd graph, from memory alone."""
