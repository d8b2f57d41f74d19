"""Reads a program from outside, its memory and its files: shared by the half in gdb and by the controller."""
