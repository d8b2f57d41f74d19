"""The prompt in place: a program opens it at itself, as ``breakpoint()`` does with pdb."""
