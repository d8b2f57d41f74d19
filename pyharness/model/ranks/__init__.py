"""The ranks of a distributed job: where each stands, what its flight recorder noted, and who is waited for."""
