"""Sentences as the ``TokenList`` of the package conllu."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqtag.corpus.conllu import ConlluSentence
from seqtag.corpus.write import render

if TYPE_CHECKING:
    from conllu import TokenList

    from seqtag.corpus.sentence import Sentence


def to_token_list(sentence: Sentence) -> TokenList:
    """The sentence as a ``TokenList``, with its comments, ranges and empty nodes if it has them.

    Formats other than CoNLL-U pass through `seqtag.corpus.render`. Without words the list is
    empty.

    Examples
    --------
    >>> from seqtag.corpus import sentence_of
    >>> to_token_list(sentence_of({"form": ["Hi"], "upos": ["INTJ"]}))
    TokenList<Hi, metadata={text: "Hi"}>
    """
    from conllu import TokenList, parse

    if isinstance(sentence, ConlluSentence):
        text = sentence.raw.removeprefix("\ufeff").replace("\r\n", "\n").strip("\n")
        lists = parse(text, fields=sentence.columns)
    else:
        columns = {name: sentence.column(name) for name in sentence.columns}
        lists = parse(render(columns, "conllu"))
    return lists[0] if lists else TokenList()
