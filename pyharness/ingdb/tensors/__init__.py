"""Tensors of the program, from memory alone."""
