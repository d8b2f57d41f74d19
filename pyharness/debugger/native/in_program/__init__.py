"""What gdb runs in the program: expressions of the user's and requests to the agent, to their ends."""
