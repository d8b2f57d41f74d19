"""Types of torch and c10."""
