"""The tools, a module for each; importing one registers it."""
