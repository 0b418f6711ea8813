"""Models that are read again when a signal asks for it, while the server goes on."""

from __future__ import annotations

import threading
from contextlib import suppress
from math import inf
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from seqtag.errors import SeqtagError
from seqtag.pages.annotation import annotate
from seqtag.pages.desk import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable

    from seqtag.pages.annotation import Models


class Shelf:
    """The models that are served now.

    Who has taken them keeps them: an answer under way ends with the models that it began with.

    Parameters
    ----------
    read
        Reads the models, here and each time that it is asked to.
    note
        Takes a line when they were read again.
    complain
        Takes one when they were not.

    Raises
    ------
    SeqtagError, OSError
        As `read` does, the first time.

    Examples
    --------
    >>> import seqtag
    >>> from seqtag.pages.annotation import Models
    >>> shelf = Shelf(lambda: Models({"en": seqtag.load("en-ewt-upos")}), print, print)
    >>> shelf.models.default
    'en'
    """

    def __init__(
        self,
        read: Callable[[], Models],
        note: Callable[[str], None],
        complain: Callable[[str], None],
    ):
        self._read, self._note, self._complain = read, note, complain
        self.models = self._tried()
        self._wishes: SimpleQueue[None] = SimpleQueue()
        self._reader: threading.Thread | None = None
        self._closed = False

    def read_again(self, *_: object) -> None:
        """Have the models read in the background; a handler of signals.

        Asked again before it has begun, it reads once. If that fails the old models stay, and the
        line says why.
        """
        if self._reader is None:
            self._reader = threading.Thread(target=self._wait, name="seqtag-reload", daemon=True)
            self._reader.start()
        self._wishes.put(None)  # which, other than a lock, a second signal may interrupt

    def close(self) -> None:
        """Read no more; what is being read is waited for."""
        self._closed = True
        self._wishes.put(None)
        if self._reader is not None:
            self._reader.join()

    def _wait(self) -> None:
        """Read whenever it is wished."""
        while True:
            self._wishes.get()
            if self._closed:
                return
            with suppress(Empty):
                while True:
                    self._wishes.get_nowait()
            try:
                self.models = self._tried()
            except Exception as error:
                known = isinstance(error, SeqtagError | OSError)
                what = str(error) if known else f"{type(error).__name__}: {error}"
                self._complain(f"the old models stay, the new ones are not good: {_line(what)}")
            else:
                self._note(f"read again: {', '.join(self.models.offers())}")

    def _tried(self) -> Models:
        """The models as they are now, after a word: so it is not a request that waits for them."""
        models = self._read()
        for name in models.offers():
            list(annotate(models.find(name)[1], "A", Deadline(inf)))
        return models


def _line(text: str) -> str:
    """A text in one line."""
    return " ".join(text.split())
