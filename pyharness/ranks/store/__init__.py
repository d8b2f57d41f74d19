"""Asks all ranks of a job, on all of its hosts, through the store that its launcher has: torch's ``TCPStore``."""
