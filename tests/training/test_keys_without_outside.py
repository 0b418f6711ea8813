"""Keys of MISC on the words of names only: a word without the key is outside."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import seqtag
from seqtag.errors import LabelError
from seqtag.evaluation import score
from tests.command_line import call  # noqa: F401  (a fixture)

NAMES = {"Lena": "B-PER", "Lodz": "B-LOC", "Marie": "B-PER", "Curie": "I-PER"}
SENTENCES = ["Lena leaves Lodz .", "Marie Curie sees Lena", "It rains"]


def conllu(sentences, key="NE", outside=None, names=NAMES) -> str:
    lines = []
    for text in sentences:
        for i, word in enumerate(text.split(), 1):
            label = names.get(word, outside)
            misc = f"{key}={label}|X=y" if label else "X=y"
            lines.append("\t".join([str(i), word, *"_______", misc]))
        lines.append("")
    return "\n".join(lines) + "\n"


@settings(max_examples=15, deadline=None)
@given(st.lists(st.sampled_from(SENTENCES), max_size=3), st.booleans())
def test_a_model_is_that_of_explicit_labels(tmp_path_factory, more, native):
    folder = tmp_path_factory.mktemp("names")
    sparse, full = folder / "sparse.conllu", folder / "full.conllu"
    sparse.write_text(conllu([*SENTENCES, *more]))
    full.write_text(conllu([*SENTENCES, *more], outside="O"))
    data = [sparse, full] if native else [list(seqtag.read(each)) for each in (sparse, full)]
    one, other = (seqtag.train(each, label="misc.NE", epochs=2) for each in data)
    assert one.labels == other.labels and one.label_scheme == "iob2"
    facts = [each.info["training"]["corpus_sha256"] for each in (one, other)]
    assert facts[0] == facts[1]
    for path in (sparse, full):
        assert score(one, seqtag.read(path)).f1 == score(other, seqtag.read(path)).f1 > 0.8


def test_commands(tmp_path, call):  # noqa: F811
    path, model = tmp_path / "a.conllu", tmp_path / "m.seqtag"
    path.write_text(conllu(SENTENCES * 3))
    note = f"{path}: no word has O for the key NE: a word without the key means O\n"
    done = call("train", path, "--label", "misc.NE", "-o", model)
    assert done.code == 0 and done.err.count(note) == 1
    done = call("eval", "-m", model, path, "--fail-under", 100)
    assert done.code == 0 and "a word without the key means O" in done.err
    done = call("tag", "-m", model, path)
    assert (done.code, done.out.decode()) == (0, path.read_text())
    done = call("eval", path, path, "--label", "misc.NE", "--json")
    assert b'"scheme": "iob2"' in done.out
    columns = call("tag", "-m", model, path, "--to", "columns").out.decode().split("\n")
    assert columns[1].split("\t")[-1] == "O"  # a column of its own has a value
    none = tmp_path / "none.conllu"
    none.write_text(conllu(["It rains"]))
    assert call("eval", "-m", model, none).code == 0


@pytest.mark.parametrize(
    ("names", "outside"),
    [({"Lena": "NOUN"}, None), ({"Lena": "B-PER", "Lodz": "O"}, None), ({"Lena": "E-1"}, None)],
)
def test_a_missing_value_of_other_labels_is_an_error(tmp_path, names, outside):
    path = tmp_path / "a.conllu"
    path.write_text(conllu(SENTENCES, names=names, outside=outside))
    with pytest.raises(LabelError) as caught:
        seqtag.train(path, label="misc.NE")
    assert str(caught.value).startswith(f"{path}:2: ")
    assert "found a word without this key" in str(caught.value)


def test_spans_of_a_document_are_its_chunks(tmp_path):
    """Words outside lack the key in CoNLL-U; they are outside of the spans, too."""
    path = tmp_path / "a.conllu"
    path.write_text(conllu(SENTENCES * 3))
    document = seqtag.train(path, label="misc.NE")("Lena leaves Lodz .")
    found = [(span.text, span.label) for span in document.spans("misc.NE")]
    assert found == [("Lena", "PER"), ("Lodz", "LOC")]
