"""Names of native functions and C++ classes, from symbols and vtables."""
