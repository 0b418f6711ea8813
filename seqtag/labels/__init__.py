"""Labels: chunk schemes, parts, and which column holds them."""
