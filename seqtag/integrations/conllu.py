"""Streams of ``conllu.TokenList``, tagged in place."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from seqtag.corpus import into_misc
from seqtag.corpus.sentence import misc_key
from seqtag.labels.column import FEATS
from seqtag.tagging.encode import tokens_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from conllu import TokenList

    from seqtag.tagging.encode import Tokens
    from seqtag.tagging.pipeline import Pipeline
    from seqtag.tagging.tagger import Tagger

_BATCH_SENTENCES = 1000  # tagged at once by each thread


def tag_token_lists(
    model: Tagger | Pipeline, token_lists: Iterable[TokenList], *, threads: int = 1
) -> Iterator[TokenList]:
    r"""Fill the columns of many sentences, and yield the same sentences in their order.

    Memory is constant: sentences are read on demand, some 1000 at a time. Multiword ranges, empty
    nodes, metadata and input columns are not changed. A column that the sentences lack goes to
    MISC, such as ``Chunk=B-NP``. FEATS, and any column if there is no MISC, becomes a new last
    field of each row, which ``# global.columns`` then names, too.

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
    hidden = [name for tagger in model.taggers if tagger.hidden for name in tagger.label_columns]
    filled = [name for each in model.taggers for name in each.label_columns if name not in hidden]
    stream = iter(token_lists)
    while batch := list(islice(stream, _BATCH_SENTENCES * threads)):
        words: list[Tokens] = []
        for tokens in batch:
            found = tokens_of(tokens)
            if found is None:
                msg = f"expected sentences as conllu.TokenList, found {type(tokens).__name__}"
                raise TypeError(msg)
            words.append(found)
        before = [[dict(token) for token in sentence] for sentence in words]
        for tagger in model.taggers:
            tagger.tag_many(batch, threads)
        for tokens, sentence, old in zip(batch, words, before, strict=True):
            for token, was in zip(sentence, old, strict=True):
                for name in hidden:  # in its place, if it has one: the order is that of the file
                    if name in was:
                        token[name] = was[name]
                    else:
                        del token[name]
            if lacking := [name for name in filled if any(name not in was for was in old)]:
                _place(tokens, sentence, lacking)
        yield from batch


def _place(tokens: TokenList, words: Tokens, lacking: Sequence[str]) -> None:
    """Move columns that a sentence did not have to MISC, or to the end of its rows."""
    has_misc = all("misc" in token for token in tokens)
    own = [name for name in lacking if name == FEATS or not has_misc]
    for token in words:
        new = {name: token.pop(name) for name in lacking}
        named = {misc_key(name): new[name] for name in new if name not in own}
        if named and isinstance(token["misc"], str):
            misc = {name: [new[name]] for name in new if name not in own}
            [token["misc"]] = into_misc([token["misc"]], misc)
        elif named:
            token["misc"] = {**(token["misc"] or {}), **named}
        token.update((name, new[name]) for name in own)
    for token in tokens:
        token.update((name, None) for name in own if name not in token)  # ranges, empty nodes
    if own and (names := tokens.metadata.get("global.columns")):
        tokens.metadata["global.columns"] = " ".join([names, *map(str.upper, own)])
