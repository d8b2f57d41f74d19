"""The places to stop at: what each is, where it is bound, and why it was not reached."""
