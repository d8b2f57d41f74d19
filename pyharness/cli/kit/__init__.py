"""What the verbs share: options, output, help, and how a script is run."""
