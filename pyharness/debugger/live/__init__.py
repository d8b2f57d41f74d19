"""A program that runs, under both debuggers: what they and it say, and what is done about that."""
