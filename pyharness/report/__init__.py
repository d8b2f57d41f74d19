"""What is made of model objects for people to look at: tables, Perfetto traces, HTML pages."""
