"""What the machine has: interpreters of other versions, environments that are made in it."""
