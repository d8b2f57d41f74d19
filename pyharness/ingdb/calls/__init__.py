"""Calls into the stopped program: the agent, expressions, and how they end well."""
