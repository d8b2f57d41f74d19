"""What a stop at the prompt shows: values, variables, what a step has computed."""
