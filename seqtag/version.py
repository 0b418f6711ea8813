"""The version, for those who must not import the package."""

__version__ = "0.5.0"

DISTRIBUTION = "seqtag-perceptron"
"""Name of the distribution that holds this package: the name `seqtag` on the public index belongs
to another project."""
