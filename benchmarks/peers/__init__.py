"""The tools compared, one adapter file each, and the table of them all."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple, Protocol

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

    def length(self, task: Task) -> str:
        """How long it is trained, in the report's words."""

    def train(self, corpus: Path, model: Path, task: Task, seed: int, dev: Path | None) -> None:
        """Learn from a corpus file and write the model into the folder `model`, which exists.

        The dev part is for tools that stop by it; the others do not look at it.
        """

    def load(self, model: Path, task: Task) -> None:
        """Read the model back."""

    def tag(self, sentences: list[Sentence]) -> list[list[str]]:
        """Labels of sentences that are in memory, from strings to strings."""


class Entry(NamedTuple):
    """A row of the comparison: the adapter's file, and what its class is made with."""

    tool: str
    file: str
    args: tuple[str | bool, ...] = ()


OURS, DEFAULT = "as seqtag", "default"
"""Two lengths of training: as many passes as seqtag's preset makes, and the tool's own default."""


def _both(tool: str, file: str, *args: str) -> dict[str, Entry]:
    """A tool at both lengths: its adapter gets whether the length is the tool's own."""
    return {
        f"{tool}, {length}": Entry(tool, file, (*args, length == DEFAULT))
        for length in (DEFAULT, OURS)
    }


PEERS: dict[str, Entry] = {
    "seqtag": Entry("seqtag", "seqtag"),
    **_both("CRFsuite ap", "crfsuite", "ap"),
    **_both("CRFsuite pa", "crfsuite", "pa"),
    "CRFsuite lbfgs, default": Entry("CRFsuite lbfgs", "crfsuite", ("lbfgs", True)),
    **_both("sklearn-crfsuite", "sklearn_crfsuite"),
    **_both("NLTK", "nltk"),
    **_both("Vowpal Wabbit", "vowpal"),
    **_both("spaCy", "spacy"),
    **_both("UDPipe", "udpipe"),
}
"""The rows by their names."""

RATIO = "CRFsuite ap, as seqtag"
"""What the time of training is compared with: the same features, as many passes."""

QUICK = ("seqtag", "CRFsuite ap, as seqtag", "NLTK, default")


def find(name: str) -> Peer:
    """The adapter of a peer, which need not be installed."""
    if name not in PEERS:
        msg = f"expected a peer, one of {', '.join(PEERS)}; found {name!r}"
        raise ValueError(msg)
    _, file, args = PEERS[name]
    return import_module(f"benchmarks.peers.{file}").Adapter(*args)


def passes(count: int, default: bool) -> str:
    """A length of training in words."""
    return f"{count} pass{'es' * (count != 1)}, {DEFAULT if default else OURS}"


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
