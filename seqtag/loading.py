"""Loading of models by file or name, and training of those of a language if that is asked for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, overload

from seqtag.model.embedded import find_model, missing_treebank
from seqtag.tagging.pipeline import of_models
from seqtag.tagging.tagger import load_models

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from seqtag.tagging.pipeline import Loaded, Pipeline


@overload
def load(path_or_name: Literal["en"] = "en") -> Pipeline: ...
@overload
def load(path_or_name: str | PathLike[str], *, train: bool = False) -> Loaded: ...
def load(path_or_name: str | PathLike[str] = "en", *, train: bool = False) -> Loaded:
    """Load a model file: a tagger, or a pipeline if it contains several models or a segmenter.

    `Tagger.load` and `Pipeline.load` accept only one of the two, also for type checkers.

    Parameters
    ----------
    path_or_name
        Path of a ``.seqtag`` file, or the name of an embedded model, a language or a treebank:
        ``en``, ``French``, ``fr_gsd``. By default the embedded one, of English.
    train
        Whether to train the model of a language or treebank if there is none yet. That fetches the
        treebank. The environment variable ``SEQTAG_TRAIN=1`` does the same.

    Raises
    ------
    ModelFileError
        If the file is not a model, damaged, or of another format.
    FileNotFoundError
        If there is no such file; the message lists the embedded models.
    CatalogueError
        If the treebank cannot be fetched, or has nothing to learn from.
    OSError
        If it cannot be read.

    Examples
    --------
    >>> load("en")
    <seqtag.Pipeline of tokens, words, upos, xpos, feats, lemma, misc.NER>
    """
    find_or_train(path_or_name, train=train)
    return of_models(load_models(path_or_name), str(path_or_name))


def find_or_train(path_or_name: str | PathLike[str], *, train: bool = False) -> Path:
    """Return the path of a model as `find_model`; train it first if it is missing, as `load`."""
    if train or os.environ.get("SEQTAG_TRAIN") == "1":
        treebank = missing_treebank(path_or_name)
        if treebank is not None:
            from seqtag.training.named import train_named  # late: few programs train when they load

            return train_named(treebank)
    return find_model(path_or_name)
