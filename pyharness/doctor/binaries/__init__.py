"""Looks at extensions and libraries."""
