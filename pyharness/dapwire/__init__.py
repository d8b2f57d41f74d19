"""The Debug Adapter Protocol as messages on a stream, for both ends of it; standard library only."""
