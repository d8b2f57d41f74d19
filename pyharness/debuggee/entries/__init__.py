"""Programs that run the user's script for one purpose each; ``start.py`` runs them."""
