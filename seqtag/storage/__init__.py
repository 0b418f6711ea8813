"""Files: written atomically, compressed."""
