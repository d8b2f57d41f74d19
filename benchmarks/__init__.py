"""Benchmarks, one file a question: project and peers side by side in one run (``python -m benchmarks NAME``)."""
