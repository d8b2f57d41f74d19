"""A running process, read through the kernel: ptrace, and what is below /proc."""
