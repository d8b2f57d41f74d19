"""What debugpy shows, and runs of the user's for that."""
