"""Tagging: sentences, files and streams in, labels out."""
