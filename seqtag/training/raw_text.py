"""Word classes of raw text, learned before a training that uses them."""

from __future__ import annotations

import logging
import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from seqtag.corpus import read
from seqtag.errors import CorpusError
from seqtag.storage.output import is_read_once
from seqtag.tables.learn import CLASSES, MIN_COUNT, PASSES, WordBigrams, cluster, source_of
from seqtag.training.data import open_corpus

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from seqtag.corpus.read import ReadOptions
    from seqtag.tables.table import WordTable
    from seqtag.tagging.pipeline import Pipeline

_log = logging.getLogger("seqtag")


def classes_of(
    raw: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    data: Any,
    reading: ReadOptions,
    threads: int,
    segmenter: Callable[..., Pipeline],
) -> WordTable:
    """Return the word classes of raw text as a table with the name ``raw``.

    Text that is not tokenized is segmented as the treebank is: by a segmenter learned from it. If
    the data are no files of a treebank with spaces, it is segmented by NLTK's rules for English.

    Parameters
    ----------
    raw
        One or several files, in any format that `seqtag.read` reads.
    data, reading
        The training data, and how files of them are read.
    threads
        Threads for reading; they do not change the classes.
    segmenter
        The function `seqtag.train`.

    Raises
    ------
    CorpusError
        As `seqtag.learn_classes`; the message names the files if they have too few words.
    OSError
        If a file cannot be read.
    """
    paths = [os.fspath(path) for path in ([raw] if isinstance(raw, (str, os.PathLike)) else raw)]
    counted = WordBigrams()
    with ExitStack() as files:
        streams = [files.enter_context(read(path)) for path in paths]
        if any(stream.is_raw for stream in streams):
            treebank = [data] if isinstance(data, (str, os.PathLike)) else data
            named = isinstance(treebank, (list, tuple)) and all(
                isinstance(file, (str, os.PathLike)) and not is_read_once(file) for file in treebank
            )
            if named and {"id", "misc"} <= {*open_corpus(data, files, reading).columns}:
                _log.info("component tokens, to segment %s", source_of(paths))
                splitter = segmenter(data, label=["tokens"], quick=True, **reading.arguments())
                if splitter.models[-1].interrupted:
                    raise KeyboardInterrupt
                streams = [splitter.segmented(s) if s.is_raw else s for s in streams]
            else:
                _log.info("%s: tokenized by NLTK's rules for English", source_of(paths))
        for stream in streams:
            for _ in counted.read(stream, threads):
                pass
    try:
        found = cluster(counted, CLASSES, MIN_COUNT, PASSES)
    except CorpusError as error:
        problem = error.message.partition(";")[0]  # the rest advises options of seqtag classes
        msg = f"{problem}; use more text, or learn fewer classes with seqtag classes"
        raise CorpusError(msg, source=source_of(paths)) from None
    _log.info("%d word classes from %s words of raw text", CLASSES, f"{found.tokens:,}")
    return found.table("raw", source_of(paths))
