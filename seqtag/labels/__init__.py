"""Labels: chunk schemes, label coding, label columns, lemmas."""
