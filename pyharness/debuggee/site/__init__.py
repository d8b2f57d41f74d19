"""A folder for PYTHONPATH: its ``sitecustomize`` is found first."""
