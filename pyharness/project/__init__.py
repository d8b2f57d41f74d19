"""A person's extension project, read and never run: its kind, its ops, and what `pyharness init` adds to it."""
