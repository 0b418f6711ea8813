"""Treebanks as characters to learn from."""

from __future__ import annotations

import io

import numpy as np

from seqtag.corpus import read
from seqtag.features.index import index_corpus
from seqtag.features.language import parse
from seqtag.segmentation.characters import character_columns
from seqtag.tables.table import text_columns
from seqtag.training.text_examples import WORDS, TreebankText, token_examples, word_table

TREEBANK = """\
# newpar
1\tOh\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
2\t!\t_\t_\t_\t_\t_\t_\t_\tSpacesAfter=\\n

1-2\tim\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tin\t_\t_\t_\t_\t_\t_\t_\t_
2\tdem\t_\t_\t_\t_\t_\t_\t_\t_
3\t10 0\t_\t_\t_\t_\t_\t_\t_\t_

# newpar
1\te\u0301\t_\t_\t_\t_\t_\t_\t_\t_

"""


def treebank_of(text: str) -> TreebankText:
    return TreebankText.of(read(io.BytesIO(text.encode()), "conllu"))


def examples(columns=("c1",), text=TREEBANK):
    return token_examples(treebank_of(text), columns)


def unseparated(*sentences: str) -> TreebankText:
    """Sentences whose words no white space separates."""
    rows = (f"{n}\t{w}" + "\t_" * 7 + "\tSpaceAfter=No" for s in sentences for n, w in words_in(s))
    return treebank_of("\n".join(f"\n{row}" if row.startswith("1\t") else row for row in rows))


def words_in(sentence: str):
    return enumerate(sentence.split(), 1)


def test_what_a_treebank_without_spaceafter_cannot_teach_is_said(caplog):
    said = (
        "tokens: white space follows every token of the treebank, so that what it separates "
        "will be tokens, words and punctuation together; where there is none, MISC should have "
        "SpaceAfter=No"
    )
    examples()
    assert caplog.messages == []
    for text in (TREEBANK.replace("SpaceAfter=No", "_"), "1\tOh" + "\t_" * 8 + "\n\n"):
        assert "token" not in examples(text=text).labels.types
        assert caplog.messages.pop() == said


def test_labels_say_where_tokens_and_sentences_end():
    data = examples()
    assert data.columns["c1"].values() == ["o", "h", "!", " i", "m", "0", "0", " 0", "é"]
    assert data.labels.values() == [
        *("inside", "token", "sentence"),
        *("inside", "token", "inside", "joined", "sentence"),
        "sentence",
    ]


def test_paragraphs_are_sequences():
    data = examples(("c2", "next"))
    assert data.lengths.tolist() == [8, 1]
    text = "Oh!\nim10 0 \u2029e\u0301 \u2029"
    assert [c.values() for c in data.columns.values()] == [
        character_columns(text)[k] for k in ("c2", "next")
    ]


def test_a_token_that_ends_within_a_character_ends_with_it():
    rows = ["1\te\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No", "2\t\u0301x\t_\t_\t_\t_\t_\t_\t_\t_"]
    data = examples(text="\n".join(rows) + "\n\n")
    assert data.columns["c1"].values() == ["é", "x"]
    assert data.labels.values() == ["token", "sentence"]


def test_no_sentences_give_no_characters():
    data = examples(text="\n")
    assert (len(data.lengths), len(data.labels.ids), len(data.pieces)) == (0, 0, 0)


def test_pieces_see_beyond_their_ends():
    data = examples(text=TREEBANK * 10)
    assert data.pieces.tolist() == [16] * 5 + [10]
    compiled = parse("c1[+1]").compile(["c1"])
    whole = index_corpus(compiled, [*data.columns.values()], data.lengths, 4)
    pieces = index_corpus(compiled, [*data.columns.values()], data.lengths, 4, pieces=data.pieces)
    assert (whole.instances.features == pieces.instances.features).all()
    assert np.diff(pieces.instances.sentence_ptr).tolist() == data.pieces.tolist()


def test_words_make_a_table_where_nothing_separates_them():
    assert word_table(treebank_of("\n")) is None
    some, none = "\t_" * 8, "\t_" * 7 + "\tSpaceAfter=No"
    assert word_table(treebank_of(f"1\tOh!{some}\n2\tno{some}\n\n")) is None
    assert word_table(treebank_of(f"1\tOh{none}\n2\t!{some}\n\n")) is None
    assert word_table(treebank_of(f"1\t1\u00a0 0{some}\n\n")).of_words(["0 0"]) == [""]
    table = word_table(unseparated("好 我们 。", "Ab12"))
    assert table.of_words(["我们", "们", "ab00", "。"]) == ["", None, "", ""]


def test_a_word_of_one_fold_is_unknown_there():
    treebank = unseparated(*["好 我们", "好 他们", "我 好", "我 们", "我 们"])
    columns = text_columns(WORDS)
    tables = {WORDS: word_table(treebank)}
    found = token_examples(treebank, columns, tables).columns["ends:training-words"].values()
    # 好|我们 好|他们 我|好 我|们 我|们: neither 我们 nor 他们 is known in its own sentence.
    assert "".join(found) == "111101111212"
    whole = token_examples(treebank, columns, tables, jackknifed=False)
    assert "".join(whole.columns["ends:training-words"].values()) == "112102111212"
