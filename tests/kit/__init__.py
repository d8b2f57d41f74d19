"""What tests of several folders share: paths, marks, the command, builds, gdb, DAP, processes, and reasons to skip."""
