"""The ranks of a distributed job: found, looked at in one moment, and who of them holds the others up."""
