"""Programs with planted bugs."""
