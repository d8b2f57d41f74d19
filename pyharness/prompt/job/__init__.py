"""A job at the prompt: each debugged rank is a session of its own, and one person speaks with all of them."""
