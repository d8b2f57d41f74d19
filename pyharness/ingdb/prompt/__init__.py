"""What the ph- commands at one gdb's prompt share: their registry, the places that were asked for, the stops."""
