"""What the controller asks of gdb beyond what MI has."""
