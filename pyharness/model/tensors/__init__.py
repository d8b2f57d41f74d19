"""What is said of a tensor, by whichever half of the debugger has read it."""
