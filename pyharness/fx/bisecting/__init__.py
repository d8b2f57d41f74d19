"""Find the first bad pass of a list, shrink the graph on which it fails, write a script that shows it."""
