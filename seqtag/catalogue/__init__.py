"""Corpora by name: the catalogue, the cache, and downloads."""
