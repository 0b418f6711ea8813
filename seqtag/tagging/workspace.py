"""Working memory of a tagger: numbers of word types, and the kernel's buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seqtag.caching import TAGGERS_BYTES
from seqtag.engine import backend
from seqtag.features.encoder import Encoder
from seqtag.parallel import Pool
from seqtag.tagging.unknown_lemmas import LemmaMemory

if TYPE_CHECKING:
    from collections.abc import Callable

    from seqtag.model.model import Model


class Workspace:
    """Working memory of a tagger. One thread at a time may number word types in it.

    Several threads may decode types that are numbered already: each borrows buffers of the kernel.

    Parameters
    ----------
    model
        The model of the tagger.
    encoder
        An encoder to share with the workspace of another model; None for one without types.

    Attributes
    ----------
    encoder : Encoder
        Numbers the types.
    lemmas : LemmaMemory
        Unknown words, and which of their lemmas are attested.
    kernel : Pool
        Buffers of the kernel that are not in use.
    """

    def __init__(self, model: Model, encoder: Encoder | None = None):
        self.encoder = encoder or Encoder(model.compiled, backend.hash_strings)
        self.kernel: Pool[Any] = Pool()
        self._buffer_bytes = 0
        self.lemmas = LemmaMemory()

    def take_buffers(self, make: Callable[[], Any]) -> Any:
        """Lend buffers of the kernel to one thread, which gives them back unless it fails."""
        return self.kernel.take(make)

    def put_buffers(self, buffers: Any) -> None:
        """Take back buffers of the kernel."""
        self._buffer_bytes = getattr(buffers, "nbytes", 0)
        self.kernel.put(buffers)

    @property
    def nbytes(self) -> int:
        """Bytes held for types: their words and attributes, and the kernel's sums."""
        return self.encoder.nbytes + self._buffer_bytes + self.lemmas.nbytes

    @property
    def is_full(self) -> bool:
        """True if a new workspace should replace this one, to limit the memory of its types."""
        return self.nbytes > TAGGERS_BYTES // 4
