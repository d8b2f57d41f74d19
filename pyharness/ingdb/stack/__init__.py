"""The merged stack of native and Python frames."""
