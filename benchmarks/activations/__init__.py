"""What ``python -m benchmarks capture`` compares: ways to keep activations, and models that are hard to watch."""
