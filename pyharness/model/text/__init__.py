"""Text that a person or a file reads: lines with styles, source, JSON."""
