"""What the program does that the controller hears of: libraries, graphs, ops, generated files."""
