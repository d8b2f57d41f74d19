"""Files that are copied into a folder that reproduces a fault; they need torch alone."""
