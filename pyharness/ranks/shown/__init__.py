"""A job as text: one tree of all ranks' stacks, and the verdict."""
