"""Corpora by name: what there is, where it is kept, and how it gets there whole."""
