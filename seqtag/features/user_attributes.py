"""Old module: `load_attributes` moved to `seqtag.features.attributes`."""

from __future__ import annotations

from seqtag.lazy import names_of

__getattr__ = names_of(__name__, {}, deprecated={"load_attributes": "seqtag.features.attributes"})
