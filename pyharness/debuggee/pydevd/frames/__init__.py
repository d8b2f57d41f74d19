"""Which frames debugpy traces, and what it does not see."""
