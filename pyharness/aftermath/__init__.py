"""Writes down what a program was at when it crashed, raised or hung; a process of ours, beside the program."""
