"""What was found: verdicts, findings, traces, diagnoses, and their text."""
