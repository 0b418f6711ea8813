"""Models that are read again when a signal asks for it, while the server goes on."""

from __future__ import annotations

import threading
from math import inf
from queue import SimpleQueue
from typing import TYPE_CHECKING

from seqtag.errors import SeqtagError
from seqtag.serve.annotation import annotate
from seqtag.serve.work_queue import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable

    from seqtag.serve.annotation import Models


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
    >>> from seqtag.serve.annotation import Models
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
        self._requests: SimpleQueue[None] = SimpleQueue()
        self._closed = False
        self._reader = threading.Thread(target=self._serve, name="seqtag-reload", daemon=True)

    def start(self) -> None:
        """Start the thread that reads models, before the first call of `read_again`.

        A signal handler must not start it: the thread that was interrupted may hold the locks
        that starting a thread takes, and a second signal may interrupt the handler itself.
        """
        self._reader.start()

    def read_again(self, *_: object) -> None:
        """Have the models read in the background; can be called by a signal handler.

        Requests made before a reading begins are answered by that one. If it fails, the old models
        stay, and the line says why.
        """
        self._requests.put(None)  # reentrant, unlike what needs a lock

    def close(self) -> None:
        """Stop the thread; a reading that has begun is waited for."""
        self._closed = True
        self._requests.put(None)
        self._reader.join()

    def _serve(self) -> None:
        """Read the models at each request."""
        while True:
            self._requests.get()
            while not self._requests.empty():  # no other thread takes requests
                self._requests.get()
            if self._closed:  # asked after the last request was taken: none can be overlooked
                return
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
