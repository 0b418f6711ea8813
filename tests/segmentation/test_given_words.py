"""Given tokens that are several words: split as in raw text, with ranges, and nothing is lost."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import pytest

import seqtag
from seqtag.errors import SeqtagError
from tests.command_line import call, home, run

TREE = """# sent_id = a
1-2\twe'll\t_\t_\t_\t_\t_\t_\t_\t_
1\twe\twe\tPRON\t_\t_\t4\tnsubj\t4:nsubj\t_
2\t'll\twill\tAUX\t_\t_\t4\taux\t4:aux\t_
3\tcan't\t_\tAUX\t_\t_\t4\taux\t4:aux|4.1:aux\tA=b
4\tgo\tgo\tVERB\t_\t_\t0\troot\t0:root\t_
4.1\tgo\t_\t_\t_\t_\t_\t_\t3:conj\t_

"""
SPLIT = """# sent_id = a
1-2\twe'll\t_\t_\t_\t_\t_\t_\t_\t_
1\twe\twe\tPRON\t_\t_\t5\tnsubj\t5:nsubj\t_
2\t'll\twill\tAUX\t_\t_\t5\taux\t5:aux\t_
3-4\tcan't\t_\t_\t_\t_\t_\t_\t_\tA=b
3\tca\t_\tAUX\t_\t_\t_\t_\t_\t_
4\tn't\t_\tPART\t_\t_\t_\t_\t_\t_
5\tgo\tgo\tVERB\t_\t_\t0\troot\t0:root\t_
5.1\tgo\t_\t_\t_\t_\t_\t_\t3:conj\t_

"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_conllu_keeps_its_ranges_comments_and_heads(end):
    given = TREE.replace("\n", end).encode()
    done = run("tag", "--only", "upos", "--split-words", stdin=given)
    assert done.out.decode() == SPLIT.replace("\n", end)


@pytest.mark.parametrize(
    ("format", "text"), [("tokens", "We don't .\n\nYes\n"), ("columns", "We\ndon't\n.\n\nYes\n")]
)
def test_words_of_other_formats_become_conllu_with_ranges(format, text):
    line = ["tag", "--only", "upos", "--split-words", "--format", format]
    rows = run(*line, stdin=text.encode()).out.decode().splitlines()
    tokens = [row.split("\t")[0:4:3] for row in rows if "\t" in row]
    assert tokens == [
        ["1", "PRON"],
        ["2-3", "_"],
        ["2", "AUX"],
        ["3", "PART"],
        ["4", "PUNCT"],
        ["1", "INTJ"],
    ]


def test_lists_of_words_are_split_in_python():
    pipeline = seqtag.load("en")
    empty, sentence = pipeline.tag_many([[], ["I", "don't", "!"]], split=True)
    assert not len(empty)
    assert [word.text for word in sentence] == ["I", "do", "n't", "!"]
    assert [token.text for token in sentence.tokens] == ["I", "don't", "!"]
    assert [word.text for word in pipeline.tag_words(["don't"])] == ["don't"]
    with pytest.raises(SeqtagError, match="expected a model with the component words to split"):
        seqtag.Pipeline([pipeline.tagger("upos").model]).tag_words(["don't"], split=True)


def test_a_model_that_cannot_split_is_refused(home, call):
    done = call("tag", "-m", home / "upos.seqtag", home / "train.conllu", "--split-words")
    assert done.code == 2
    assert "expected a model with the component words for --split-words, found none" in done.err
