"""Annotation of texts in a browser, by a person whose model learns from each decision."""
