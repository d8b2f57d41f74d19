"""Programs that train, and the ways to watch the ops and autograd nodes that they run."""
