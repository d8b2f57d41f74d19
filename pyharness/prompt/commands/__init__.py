"""The commands of the prompt, by what they are about."""
