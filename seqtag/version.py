"""The version, for those who must not import the package."""

__version__ = "0.3.0.dev0"
