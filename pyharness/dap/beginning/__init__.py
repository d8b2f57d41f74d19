"""What a client wants to debug: its request, the program, its children, its terminal."""
