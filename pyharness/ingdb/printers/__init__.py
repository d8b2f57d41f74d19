"""How values of C++ types look, from memory alone."""
