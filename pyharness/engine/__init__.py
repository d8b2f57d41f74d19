"""Finds, builds and keeps the module ``_engine``: one for each Python, torch and source of ours.

A wheel has the sources (``csrc/engine``, ``csrc/breakpoints``), because the module fits only one build of torch.
Standard library only: the controller builds for an interpreter that is not its own.
"""
