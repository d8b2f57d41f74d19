"""Steps of debugpy's, and what they have left."""
