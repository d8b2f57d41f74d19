"""What a client sees at a stop: stack, variables, memory, sources."""
