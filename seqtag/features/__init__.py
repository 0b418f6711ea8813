"""Templates and attributes: what of a sentence becomes a feature.

Importing the package registers the built-in attributes.
"""

from __future__ import annotations

from seqtag.features import builtin
from seqtag.features.attributes import attribute, attribute_names

__all__ = ["attribute", "attribute_names", "builtin"]
