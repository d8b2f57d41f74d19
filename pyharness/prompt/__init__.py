"""The prompt: commands typed at a terminal, or read from a file, that debug one program in both languages."""
