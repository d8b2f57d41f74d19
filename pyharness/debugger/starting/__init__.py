"""How a program comes under the debugger: started, or attached to; and its processes."""
