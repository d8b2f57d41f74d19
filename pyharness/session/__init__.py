"""Scripted sessions: TOML in, transcript out."""
