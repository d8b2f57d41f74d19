"""What the processes say to one another: every message, field by field, and how it is written."""
