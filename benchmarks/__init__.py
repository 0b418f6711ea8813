"""Measurements of speed, memory and accuracy; run ``python -m benchmarks --help``."""
