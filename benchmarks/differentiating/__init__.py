"""What ``python -m benchmarks jacobian`` compares: cases, and every way to the norm of a Jacobian."""
