"""Keys of MISC and FEATS as columns: read, written back, learned."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

import seqtag
from seqtag.cli import main
from seqtag.corpus import into_misc, read, render
from seqtag.corpus.sentence import has_column, split_key, values_of, with_value, with_values
from seqtag.errors import CorpusError
from seqtag.tagging.pipeline import Chain
from seqtag.tagging.streams import TagOptions

TEXT = (
    "# text = Anna sees Rome .\n"
    "1-2\tAnnas\t_\t_\t_\t_\t_\t_\t_\tNER=X\n"
    "1\tAnna\t_\tPROPN\t_\tCase=Nom|Number=Sing\t_\t_\t_\tA=1|NER=B-PER|SpaceAfter=No\n"
    "2\tsees\t_\tVERB\t_\t_\t_\t_\t_\tNER=O\n"
    "2.1\tgap\t_\t_\t_\t_\t_\t_\t_\tNER=Y\n"
    "3\tRome\t_\tPROPN\t_\tNumber=Sing\t_\t_\t_\tSpaceAfter=No\n\n"
)


def sentence(text: str = TEXT):
    [found] = read(io.BytesIO(text.encode()), "conllu")
    return found


def test_a_key_is_a_column():
    assert sentence().column("misc.NER") == ["B-PER", "O", "_"]
    assert sentence().column("feats.Case") == ["Nom", "_", "_"]
    assert sentence().column("misc.ner") == ["_", "_", "_"]  # case matters


def test_writing_changes_the_key_and_nothing_else():
    text = sentence().replace(
        {"misc.NER": ["B-LOC", "_", "B-LOC"], "feats.Case": ["_", "Acc", "A"]}
    )
    expected = (
        TEXT.replace("B-PER", "B-LOC")
        .replace("Case=Nom|Number", "Number")
        .replace("VERB\t_\t_\t_\t_\t_\tNER=O", "VERB\t_\tCase=Acc\t_\t_\t_\t_")
        .replace(
            "Number=Sing\t_\t_\t_\tSpaceAfter=No\n",
            "Case=A|Number=Sing\t_\t_\t_\tSpaceAfter=No|NER=B-LOC\n",
        )
    )
    assert text == expected
    assert sentence().replace({"misc.NER": sentence().column("misc.NER")}) == TEXT


def test_a_key_and_its_column_at_once():
    text = sentence().replace({"misc.NER": ["a", "b", "c"], "misc": ["X=1", "_", "NER=d"]})
    assert sentence(text).column("misc") == ["X=1|NER=a", "NER=b", "NER=c"]


@pytest.mark.parametrize("value", ["a|b", "", "a\tb"])
def test_values_that_would_not_be_read_back(value):
    with pytest.raises(CorpusError, match=r"a value for the column 'misc\.NER'"):
        sentence().replace({"misc.NER": ["O", value, "O"]})


def test_what_is_no_key():
    assert split_key("misc.NER", ("form", "misc")) == ("misc", "NER")
    assert split_key("misc.NER", ("form",)) is None
    assert split_key("misc.NER", ("form", "misc", "misc.NER")) is None  # a column of that name
    assert not any(has_column(name, ("misc", "form")) for name in ("misc.", "form.x", "misc.a=b"))
    with pytest.raises(CorpusError, match=r"found 'form\.x'"):
        sentence().column("form.x")


items = st.lists(st.sampled_from(["A=1", "NER=O", "NER=B-PER", "B", "SpaceAfter=No"]), unique=True)


@given(items, st.sampled_from(["O", "B-LOC", "a=b"]))
def test_what_was_written_is_read_and_the_rest_stays(some, value):
    cell = "|".join(some) or "_"
    done = with_value(cell, "NER", value)
    assert values_of([done], "NER") == [value]
    others = [item for item in some if not item.startswith("NER=")]
    assert [item for item in done.split("|") if not item.startswith("NER=")] == others
    assert with_value(done, "NER", None) == ("|".join(others) or "_")
    if len(some) - len(others) < 2:
        assert with_values("misc", [cell], "NER", values_of([cell], "NER")) == [cell]


def test_other_formats():
    columns = {"form": ["Rome"], "misc.NER": ["B-LOC"], "feats.Case": ["Nom"]}
    assert render(columns, "conllu").endswith("\tCase=Nom\t_\t_\t_\tNER=B-LOC\n\n")
    assert into_misc(["Ner=O"], {"misc.NER": ["B"], "misc.Ner": ["I"]}) == ["Ner=I|NER=B"]


def treebank_of_names() -> bytes:
    """A treebank with names in MISC."""
    label = {"Anna": "B-PER", "Rome": "B-LOC"}
    lines = []
    for words in (["Anna", "sees", "Rome"], ["Rome", "is", "big"], ["so", "is", "Anna"]) * 8:
        rows = [
            f"{i}\t{word}" + "\t_" * 7 + f"\tX={i}|NER={label.get(word, 'O')}|SpaceAfter=No\n"
            for i, word in enumerate(words, 1)
        ]
        lines += [*rows, "\n"]
    return "".join(lines).encode()


def test_names_in_misc_are_learned_and_written_back(tmp_path, capfdbinary):
    """Native and not: a key is read and written line by line, with the same bytes around it."""
    path, model = tmp_path / "names.conllu", tmp_path / "names.seqtag"
    path.write_bytes(gold := treebank_of_names())
    tagger = seqtag.train(path, label="misc.NER", epochs=5)
    tagger.save(model)
    assert tagger.label == "misc.NER"
    blank = gold
    for value in (b"O", b"B-PER", b"B-LOC"):
        blank = blank.replace(b"NER=" + value, b"NER=?")
    chain = Chain([tagger])
    with read(io.BytesIO(blank), "conllu") as stream:
        assert b"".join(chain.tagged([stream], TagOptions())) == gold
    assert main(["eval", "-m", str(model), str(path)]) == 0
    assert b"PER                          100.00" in capfdbinary.readouterr().out
    with read(io.BytesIO(b"Anna sees\n"), "tokens") as stream:
        done = b"".join(chain.tagged([stream], TagOptions()))
    assert [row.split(b"\t")[-1] for row in done.splitlines()[1:3]] == [b"NER=B-PER", b"NER=O"]
