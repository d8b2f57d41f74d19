"""Looks at one live process."""
