"""A debug adapter: one DAP session for Python, generated code and C++; a front door on ``debugger``."""
