"""How gdb comes to a program or a core file, and what a gdb of its own answers about it."""
