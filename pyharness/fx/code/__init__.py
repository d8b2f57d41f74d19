"""The code that torch generates as real files with source maps, which an edit can be loaded from again."""
