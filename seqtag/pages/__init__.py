"""Pages to look at: a report in one file, and what ``seqtag serve`` shows."""
