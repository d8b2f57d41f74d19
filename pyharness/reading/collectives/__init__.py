"""torch's flight recorder, from memory alone: which collectives a rank has called, and which are not over."""
