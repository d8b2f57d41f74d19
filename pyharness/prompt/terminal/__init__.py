"""The program's terminal: a terminal of its own, kept by a process that outlives the debugger."""
