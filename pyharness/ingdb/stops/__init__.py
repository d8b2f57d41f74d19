"""Where a thread stops, and why it did."""
