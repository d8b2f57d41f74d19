"""The Python API: a program that a script debugs, how it is begun, and whose turn it is."""
