"""The tools compared, one adapter file each, and the table of them all."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.tasks import Sentence, Task


class Peer(Protocol):
    """A tool that trains taggers. One object serves one process, for one task.

    Attributes
    ----------
    module, distribution
        What Python imports, and what pip installs.
    settings
        How it was trained, in the report's words.
    tasks
        Names of the tasks it can do: a tool that sees words alone cannot chunk.
    """

    module: str
    distribution: str
    settings: str
    tasks: tuple[str, ...]

    def train(self, corpus: Path, model: Path, task: Task, seed: int) -> None:
        """Learn from a corpus file and write the model into the folder `model`, which exists."""

    def load(self, model: Path, task: Task) -> None:
        """Read the model back."""

    def tag(self, sentences: list[Sentence]) -> list[list[str]]:
        """Labels of sentences that are in memory, from strings to strings."""


PEERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "seqtag": ("seqtag", ()),
    "CRFsuite ap": ("crfsuite", ("ap",)),
    "CRFsuite pa": ("crfsuite", ("pa",)),
    "CRFsuite lbfgs": ("crfsuite", ("lbfgs",)),
    "sklearn-crfsuite": ("sklearn_crfsuite", ()),
    "NLTK": ("nltk", ()),
    "Vowpal Wabbit": ("vowpal", ()),
    "spaCy": ("spacy", ()),
    "UDPipe": ("udpipe", ()),
}
"""Per name: the adapter's file, and what its class is made with."""

QUICK = ("seqtag", "CRFsuite ap", "NLTK")


def find(name: str) -> Peer:
    """The adapter of a peer, which need not be installed."""
    if name not in PEERS:
        msg = f"expected a peer, one of {', '.join(PEERS)}; found {name!r}"
        raise ValueError(msg)
    file, args = PEERS[name]
    return import_module(f"benchmarks.peers.{file}").Adapter(*args)


def absence(peer: Peer) -> str | None:
    """Why a peer cannot be measured, or None if it can."""
    try:
        present = find_spec(peer.module) is not None
    except ModuleNotFoundError:  # the package around the module is missing
        present = False
    if not present:
        return f"not installed; pip install {peer.distribution}"
    if peer.module == "seqtag":
        from seqtag.engine import backend as backends

        if backends.BACKEND != "native":
            return "the native kernel is missing; install with pip install -e '.[bench,plot]'"
    return None


def version_of(peer: Peer) -> str:
    """The installed version; seqtag's own is asked of the package, which need not be installed."""
    if peer.module == "seqtag":
        import seqtag

        return seqtag.__version__
    return version(peer.distribution)
