"""Models: what one holds, and the file it is kept in."""
