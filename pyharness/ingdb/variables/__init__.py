"""What a client looks at while a thread stands."""
