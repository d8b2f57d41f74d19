"""Reads a project: its build files, its C++, its Python."""
