"""How verbs read what is typed, and speak of themselves: help with examples, wrong words, completion."""
