"""Debug adapters under measurement: a client that speaks to any of them, how each is started, what is timed."""
