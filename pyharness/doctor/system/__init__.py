"""Looks at the machine: permissions, core files, what earlier sessions left."""
