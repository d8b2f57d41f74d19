"""Who holds a job up, and with what: rules over stacks and collectives, which ask no process anything."""
