"""Models that are served, and their replacement while the server runs."""

from __future__ import annotations

import gc
import re
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from seqtag.caching import free_memory
from seqtag.catalogue.entries import languages
from seqtag.errors import SeqtagError
from seqtag.serve.annotation import annotate
from seqtag.serve.work_queue import Deadline
from seqtag.tagging.streams import columns_needed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from seqtag.tagging.pipeline import Loaded


_LONGEST = 3  # words of the name of a language


def parts_of(name: str) -> tuple[str, ...]:
    """Return the parts of the name of a model: the code of its language first, if it begins so.

    Examples
    --------
    >>> parts_of("english-ewt-ud-2.15"), parts_of("eng"), parts_of("Ancient_Greek-Perseus")
    (('en', 'ewt', 'ud', '2.15'), ('en',), ('grc', 'perseus'))
    >>> parts_of("upos")
    ('upos',)
    """
    parts = re.split("[-_]", name.lower())
    for count in range(_LONGEST, 0, -1):
        if treebank := languages().get("".join(parts[:count])):
            return (treebank.removeprefix("ud:").partition("_")[0], *parts[count:])
    return tuple(parts)


class UnknownModelError(SeqtagError):
    """Request for a model that is not served."""


class ServedModels:
    """Models by name; the first is the default.

    Parameters
    ----------
    loaded
        Pairs of a name, or the path of a model file, and the tagger or pipeline.

    Examples
    --------
    >>> import seqtag
    >>> models = ServedModels([("some/en-upos.seqtag", seqtag.load("en").tagger("upos"))])
    >>> models.default, models.abilities()
    ('en-upos', {'en-upos': ['tokenizer', 'tagger']})
    """

    def __init__(self, loaded: Iterable[tuple[str, Loaded]]):
        self._models: dict[str, Loaded] = {}
        for path, each in loaded:
            name = Path(path).name.removesuffix(".seqtag")
            if name in self._models:
                msg = f"expected distinct model names, found {name} twice; rename one"
                raise SeqtagError(msg)
            self._models[name] = each

    @property
    def default(self) -> str:
        """Name of the model that answers if none is named."""
        return next(iter(self._models))

    def abilities(self) -> dict[str, list[str]]:
        """Return what each model can do, in the terms of UDPipe's interface."""
        return {
            name: ["tokenizer", "tagger"] if each.taggers else ["tokenizer"]
            for name, each in self._models.items()
        }

    def columns(self) -> dict[str, list[str]]:
        """Return the columns that each model fills."""
        return {
            name: [tagger.label for tagger in each.taggers] for name, each in self._models.items()
        }

    def find(self, name: str | None) -> tuple[str, Loaded]:
        """Return the name and the model of a name or its beginning; the default for None.

        Codes and names of a language are equal: ``eng`` is the beginning of ``english-ewt``. If no
        name begins so, the first one counts that is a beginning: ``en`` for ``english-ewt``.

        Raises
        ------
        UnknownModelError
            If there is no such model.
        """
        name = name or self.default
        if name in self._models:
            return name, self._models[name]
        parts = parts_of(name)
        served = {known: parts_of(known) for known in self._models}
        for found in (
            [known for known, its in served.items() if its[: len(parts)] == parts],
            [known for known in served if known.startswith(name)],
            [known for known, its in served.items() if parts[: len(its)] == its],
        ):
            if found:
                return found[0], self._models[found[0]]
        msg = f"expected one of the models {', '.join(self._models)}, found {name[:80]!r}"
        raise UnknownModelError(msg)


class ModelRegistry:
    """Current models of a server.

    A request keeps the models that it began with.

    Parameters
    ----------
    read
        Reads the models, here and at each `read_now`.
    note
        Is passed a line after a successful `read_now`.
    complain
        Is passed a line after a failed one.
    count
        Is passed the outcome of each, ``read`` or ``failed``.

    Attributes
    ----------
    models : ServedModels
        The current models.

    Raises
    ------
    SeqtagError, OSError
        As `read` does, the first time.

    Examples
    --------
    >>> import seqtag
    >>> en = seqtag.load("en").tagger("upos")
    >>> registry = ModelRegistry(lambda: ServedModels([("en", en)]), print, print)
    >>> registry.models.default
    'en'
    """

    def __init__(
        self,
        read: Callable[[], ServedModels],
        note: Callable[[str], None],
        complain: Callable[[str], None],
        count: Callable[[str], object] = lambda _: None,
    ):
        self._read, self._note, self._complain, self._count = read, note, complain, count
        self.models = self._read_and_warm_up()
        count("read")

    def read_now(self) -> bool:
        """Read the models again; return whether that succeeded.

        If it fails, the old models stay, and the line has the reason.
        """
        try:
            self.models = self._read_and_warm_up()
        except Exception as error:
            known = isinstance(error, SeqtagError | OSError)
            what = str(error) if known else f"{type(error).__name__}: {error}"
            line = " ".join(what.split())
            self._count("failed")
            self._complain(f"models not reloaded, the old ones stay in use: {line}")
            return False
        else:
            self._count("read")
            self._note(f"models reloaded: {', '.join(self.models.abilities())}")
            return True
        finally:
            gc.collect()  # the old models, or the remains of the broken ones
            free_memory()

    def _read_and_warm_up(self) -> ServedModels:
        """Read the models and tag a word, which loads what would delay the first request."""
        models = self._read()
        for name in models.abilities():
            model = models.find(name)[1]
            if not columns_needed(model.taggers):
                [found] = annotate(model, ["A"], Deadline(inf))
                list(found)
        return models
