"""seqtag and its peers, measured side by side; run ``python -m benchmarks --help``."""
