"""GraphModules of a running program as data: who made them, their nodes, the shapes that flow through."""
