"""Training: data, epochs, runs, and choosing between settings."""
