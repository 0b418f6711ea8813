"""Streams of ``conllu.TokenList``, tagged in place."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from seqtag.tagging.encode import tokens_of
from seqtag.tagging.pipeline import Pipeline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conllu import TokenList

    from seqtag.tagging.encode import Tokens
    from seqtag.tagging.tagger import Tagger

_BATCH = 1000  # sentences tagged at once, times the threads


def tag_token_lists(
    model: Tagger | Pipeline, token_lists: Iterable[TokenList], *, threads: int = 1
) -> Iterator[TokenList]:
    r"""Fill the columns of many sentences, and yield the same sentences in their order.

    Memory is constant: sentences are read on demand, some 1000 at a time. Multiword ranges, empty
    nodes, metadata and input columns are not changed. A column that the sentences lack goes to
    MISC, such as ``Chunk=B-NP``.

    Parameters
    ----------
    model
        A tagger, or a pipeline, whose taggers run in turn; segmentation is not changed.
    token_lists
        Result of ``conllu.parse`` or ``conllu.parse_incr``; sentences without words are passed on.
    threads
        Threads to decode on.

    Raises
    ------
    TypeError
        If an item is not a ``TokenList``.

    Examples
    --------
    >>> import io, conllu, seqtag
    >>> rows = "1\tHello\t_\t_\t_\t_\t_\t_\t_\t_\n2\t!\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    >>> stream = conllu.parse_incr(io.StringIO(rows * 2))
    >>> for tokens in tag_token_lists(seqtag.load("en").tagger("upos"), stream):
    ...     print([token["upos"] for token in tokens])
    ['INTJ', 'PUNCT']
    ['INTJ', 'PUNCT']
    """
    taggers = model.taggers if isinstance(model, Pipeline) else (model,)
    hidden = [name for tagger in taggers if tagger.hidden for name in tagger.label_columns]
    filled = [name for tagger in taggers for name in tagger.label_columns if name not in hidden]
    stream = iter(token_lists)
    while batch := list(islice(stream, _BATCH * threads)):
        words: list[Tokens] = []
        for tokens in batch:
            found = tokens_of(tokens)
            if found is None:
                msg = f"expected sentences as conllu.TokenList, found {type(tokens).__name__}"
                raise TypeError(msg)
            words.append(found)
        before = [[dict(token) for token in sentence] for sentence in words]
        for tagger in taggers:
            tagger.tag_many(batch, threads)
        for sentence, old in zip(words, before, strict=True):
            for token, was in zip(sentence, old, strict=True):
                new = {name: token.pop(name) for name in filled if name not in was}
                for name in hidden:
                    del token[name]
                token.update((name, was[name]) for name in hidden if name in was)
                if new:
                    named = {f"{name[:1].upper()}{name[1:]}": new[name] for name in new}
                    token["misc"] = {**(token.get("misc") or {}), **named}
        yield from batch
