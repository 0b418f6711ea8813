"""Word tables: lexicons, word classes and tables of one's own that templates look words up in."""
