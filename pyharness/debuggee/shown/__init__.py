"""Variables as debugpy shows them: tensors, modules, graph nodes."""
