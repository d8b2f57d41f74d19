"""Where torch keeps what we read of tensors and nodes."""
