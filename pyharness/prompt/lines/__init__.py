"""Where the commands come from: a person at a terminal, a file, a pipe."""
