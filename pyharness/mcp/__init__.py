"""A front door for agents: the Model Context Protocol on standard input and output, over the prompt's session."""
