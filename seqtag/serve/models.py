"""Models that are served, by name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from seqtag.catalogue.entries import languages
from seqtag.errors import SeqtagError
from seqtag.serve.work import RequestError
from seqtag.tagging.pipeline import Pipeline

if TYPE_CHECKING:
    from collections.abc import Iterable

    from seqtag.tagging.pipeline import Loaded

_MAX_NAME_WORDS = 3  # of a language


def parts_of(name: str) -> tuple[str, ...]:
    """Return the parts of the name of a model: the code of its language first, if it begins so.

    Examples
    --------
    >>> parts_of("english-ewt-ud-2.15"), parts_of("eng"), parts_of("Ancient_Greek-Perseus")
    (('en', 'ewt', 'ud', '2.15'), ('en',), ('grc', 'perseus'))
    >>> parts_of("turkish@2.15"), parts_of("upos")
    (('tr', '2.15'), ('upos',))
    """
    parts = re.split("[-_@]", name.lower())
    for count in range(_MAX_NAME_WORDS, 0, -1):
        if treebank := languages().get("".join(parts[:count])):
            return (treebank.removeprefix("ud:").partition("_")[0], *parts[count:])
    return tuple(parts)


class ServedModels:
    """Models by name; the first is the default.

    Parameters
    ----------
    loaded
        Pairs of a name, or the path of a model file, and the tagger or pipeline.

    Raises
    ------
    SeqtagError
        If two have the same name.

    Examples
    --------
    >>> import seqtag
    >>> models = ServedModels([("some/en-upos.seqtag", seqtag.load("en").tagger("upos"))])
    >>> models.default, models.abilities()
    ('en-upos', {'en-upos': ['tokenizer', 'tagger']})
    """

    def __init__(self, loaded: Iterable[tuple[str, Loaded]]):
        self._models: dict[str, Pipeline] = {}
        for path, each in loaded:
            name = Path(path).name.removesuffix(".seqtag")
            if name in self._models:
                msg = f"expected distinct model names, found {name} twice; rename one"
                raise SeqtagError(msg)
            self._models[name] = each if isinstance(each, Pipeline) else Pipeline([each.model])

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

    def find(self, name: str | None) -> tuple[str, Pipeline]:
        """Return the name and the model of a name or its beginning; the default for None.

        Codes and names of a language are equal: ``eng`` is the beginning of ``english-ewt``. If no
        name begins so, the first one counts that is a beginning: ``en`` for ``english-ewt``.

        Raises
        ------
        RequestError
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
        raise RequestError(msg, 404)
