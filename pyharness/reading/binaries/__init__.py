"""ELF and DWARF as they lie on the disk, read by ourselves: gdb reads the user's libraries only."""
