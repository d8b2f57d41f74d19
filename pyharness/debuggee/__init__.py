"""Runs in the program that is debugged (it may import torch)."""
