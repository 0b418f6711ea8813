"""Texts with spans become sentences of words with chunk labels; what does not fit is reported."""

from __future__ import annotations

import io
import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import seqtag
from seqtag.errors import CorpusError
from seqtag.labels.schemes import spans as chunks_of
from seqtag.tagging.pipeline import Cutter

CUTTER = Cutter("en")


def read(*values, text=None, **options):
    data = text or "\n".join(map(json.dumps, values))
    stream = seqtag.read(io.BytesIO(data.encode()), "spans", tokens_from=CUTTER, **options)
    return [each for each in stream if len(each)]


def labeled(sentences):
    return [
        (sentence.words[first:last], kind)
        for sentence in sentences
        for kind, first, last in chunks_of(sentence.column("ner"), "iob2")
    ]


def test_words_have_the_chunks_of_spans():
    text = "Mira's dog lives in Norvale. Why?"
    sentences = read({"text": text, "spans": [[0, 4, "PER"], [20, 27, "LOC"]]})
    assert [each.words[0] for each in sentences] == ["Mira", "Why"]
    assert labeled(sentences) == [(["Mira"], "PER"), (["Norvale"], "LOC")]


NAMES = ["Mira Falk", "Norvale", "\N{ROCKET} Bar", "Jose\u0301", "\u05d3\u05d5\u05d3", "東京"]
PIECES = st.lists(
    st.tuples(
        st.sampled_from([*NAMES, "the dog", "e\u0301t\u00e9", "\N{WAVING HAND SIGN}"]),
        st.sampled_from([" ", "\r\n", "\n\n", " \u00a0", ", "]),
    ),
    max_size=8,
)


@given(PIECES, st.sampled_from([("utf16", "utf-16-le", 2), ("byte", "utf-8", 1)]))
def test_spans_are_exact_in_any_unit(pieces, unit):
    name, encoding, size = unit
    text, spans, words = "", [], []
    for piece, space in pieces:
        if piece in NAMES:
            spans.append([len(text), len(text) + len(piece), "X"])
            words.append(("".join(piece.split()), "X"))
        text += piece + space
    found = read({"text": text, "spans": spans})
    assert [("".join(chunk), kind) for chunk, kind in labeled(found)] == words
    moved = [[len(text[:at].encode(encoding)) // size for at in (a, b)] for a, b, _ in spans]
    others = read({"text": text, "spans": [[a, b, "X"] for a, b in moved]}, offsets=name)
    assert [(each.words, each.column("ner")) for each in others] == [
        (each.words, each.column("ner")) for each in found
    ]


@pytest.mark.parametrize(
    "text",
    [
        '{"text": "In Oslo.", "label": [[3, 7, "X"]]}\r\n{"text": "In Rome.", "label": [[3, 7, "X"]]}',
        '\ufeff[\n {"text": "In Oslo.",\n  "label": [[3, 7, "X"]]},\n {"text": "In Rome.", "label": '
        '[[3, 7, "X"]]}\n]\n',
        '[["In Oslo.", {"entities": [[3, 7, "X"]]}], ["In Rome.", {"entities": [[3, 7, "X"]]}]]',
        '["In Oslo.", {"entities": [[3, 7, "X"]]}]\n["In Rome.", {"entities": [[3, 7, "X"]]}]\n',
    ],
)
def test_lines_and_arrays(text):
    assert seqtag.sniff(io.BytesIO(text.encode())).format == "spans"
    assert labeled(read(text=text)) == [(["Oslo"], "X"), (["Rome"], "X")]


def test_lines_are_those_of_the_objects():
    text = '[\n {"text": "In Oslo.",\n  "label": []},\n {"text": "In Rome.", "label": []}\n]'
    assert [each.line for each in read(text=text)] == [2, 4]


@pytest.mark.parametrize(
    ("spans", "note", "kept"),
    [
        ([[20, 27, "X"]], "", ["Norvale"]),
        ([[0, 5, "X"]], "1 span moved by blanks or punctuation: 'Mira ' (0 to 5, X)", ["Mira"]),
        ([[1, 9, "X"]], "1 span left out: not whole words of a sentence: 'ira Falk' (1 to 9", []),
        ([[4, 4, "X"]], "1 span left out: empty: '' (4 to 4, X)", []),
        ([[4, 5, "X"]], "1 span left out: empty: ' ' (4 to 5, X)", []),
        ([[9, 0, "X"]], "1 span left out: reversed: '' (9 to 0, X)", []),
        ([[25, 99, "X"]], "1 span left out: outside of the text", []),
        ([[-1, 4, "X"]], "within a character: 'Mira' (-1 to 4, X)", []),
        ([[20, 33, "X"]], "1 span across two sentences, which are joined", ["Norvale.Why?"]),
        (
            [{"start": 0, "end": 4, "label": "X", "text": "Falk"}],
            "1 span whose text is not at its place: 'Mira'",
            ["Mira"],
        ),
    ],
)
def test_spans_that_do_not_fit_are_reported(spans, note, kept, caplog):
    text = "Mira Falk lived in  Norvale. Why?"
    found = read({"text": text, "spans": spans}, overlaps="longest")
    assert ["".join(chunk) for chunk, _ in labeled(found)] == kept
    assert note in caplog.text
    assert [each.getMessage()[:12] for each in caplog.records] == ["<stream>:1: "] * bool(note)


@pytest.mark.parametrize(
    ("lines", "places"),
    [
        ("{}\n{}", ["<stream>:1", "<stream>:2"]),
        ("[{}, {}]", ["<stream>:object 1", "<stream>:object 2"]),
    ],
)
def test_several_of_a_kind_are_counted_once(lines, places, caplog):
    value = {"text": "Mira Falk", "spans": [[0, 3, "X"], [5, 6, "Y"]]}
    read(text=lines.format(*[json.dumps(value)] * 2))
    [record] = caplog.records
    first, second = places
    assert record.getMessage() == (
        f"{first}: 4 spans left out: not whole words of a sentence: 'Mir' (0 to 3, X); "
        f"{first}: 'F' (5 to 6, Y); {second}: 'Mir' (0 to 3, X); ..."
    )


def test_the_unit_that_fits_is_named(caplog):
    text = "\N{ROCKET} Mira \N{ROCKET} Norvale"
    places = [(3, 7, "Mira"), (11, 18, "Norvale")]
    spans = [{"start": a, "end": b, "text": of, "labels": ["X"]} for a, b, of in places]
    read({"text": text, "label": spans})
    assert (
        '2 spans whose text is not at its place; it is there if you use offsets="utf16"'
        in caplog.text
    )
    found = read({"text": text, "label": spans}, offsets="utf16")
    assert labeled(found) == [(["Mira"], "X"), (["Norvale"], "X")]


def test_overlapping_spans_are_refused_or_resolved(caplog):
    value = {"text": "Mira Falk ran.", "spans": [[0, 9, "PER"], [5, 9, "X"], [10, 13, "Y"]]}
    with pytest.raises(
        CorpusError, match=r"<stream>:2: .*do not overlap, found 'Mira Falk'"
    ) as error:
        read({"text": "", "spans": []}, value)
    assert "'Falk' (5 to 9, X)" in str(error.value)
    found = read(value, overlaps="longest")
    assert labeled(found) == [(["Mira", "Falk"], "PER"), (["ran"], "Y")]
    assert "<stream>:1: 1 span left out: overlapping longer ones: 'Falk'" in caplog.text


def test_texts_nobody_annotated_are_left_out_and_others_kept(caplog):
    values = [
        {"text": "Mira ran.", "spans": [[0, 4, "X"]], "answer": "accept"},
        {"text": "Mira sat.", "spans": [], "answer": "reject"},
        {"text": "Why?", "spans": None},
        {"text": "No.", "answer": "accept"},
        {"text": "So."},
    ]
    found = read(*values)
    assert [each.words[0] for each in found] == ["Mira", "No", "So"]
    assert "<stream>:2: 1 text left out, answer: reject: 'Mira sat.'" in caplog.text
    assert "<stream>:3: 1 text left out, not annotated" in caplog.text
    assert "<stream>:5: 1 text without a field of spans, taken for annotated" in caplog.text


def test_tokens_of_the_file_are_the_words_but_not_where_a_model_is_scored():
    text = "Mira-Falk ran. No."
    ends = [4, 5, 9, 10, 13, 14, 15, 17, 18]
    tokens = [{"start": a, "end": b} for a, b in pairwise([0, *ends])]
    value = {"text": text, "tokens": tokens, "spans": [[5, 9, "X"]], "answer": "accept"}
    first, second = read(value)
    assert first.words == ["Mira", "-", "Falk", "ran", "."]
    assert second.words == ["No", "."]
    assert labeled([first]) == [(["Falk"], "X")]
    tokens[3]["start"] = 2
    with pytest.raises(CorpusError, match="tokens one after another, found 2 to 10"):
        read(value)


def test_models_are_scored_on_their_own_sentences():
    value = {"text": "Mira lives. In Norvale.", "spans": [[0, 11, "X"], [5, 22, "X"]]}
    joined = read({**value, "spans": [[5, 22, "X"]]})
    assert len(joined) == 1
    first, second = read(value, as_cut=True, overlaps="longest")
    assert labeled([first, second]) == []
    assert (first.missed, second.missed) == (["X"], [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"text": "a", "spans": []}\n{"text": "b" "spans": []}\n', "<stream>:2: expected JSON"),
        ('[{"text": "a", "spans": []},\n', "<stream>:2: expected an array with an end"),
        ('[{"text": "a", "spans": []}]\n{}', "<stream>:1: expected an array with an end"),
        ('{"text": "a", "spans": []}\n{"id": 1}', "<stream>:2: expected an object with a text"),
        (
            '[{"text": "a", "spans": []}, {"id": 1}]',
            "<stream>:object 2: expected an object with a text",
        ),
        (
            '{"text": "a", "spans": [[0, 1]]}\n{"text": "\\ud83d", "spans": []}',
            "<stream>:2: expected a",
        ),
        ('{"text": "a", "spans": [[0, 1, 2]]}', "<stream>:1: expected spans with whole numbers"),
        ("[" * 100_000, "<stream>:1: expected JSON, found an error"),
    ],
)
def test_what_is_refused(text, message):
    with pytest.raises(CorpusError) as error:
        read(text=text)
    assert str(error.value).startswith(message)


def test_malformed_objects_are_skipped_if_asked(caplog):
    limits = seqtag.corpus.LIMITS._replace(lenient=True)
    found = read({"text": "a", "spans": [[0, 1, 2]]}, {"text": "b", "spans": []}, limits=limits)
    assert [each.words for each in found] == [["b"]]
    assert "skipped" in caplog.text


def test_a_model_is_needed():
    with pytest.raises(CorpusError, match="expected a model that cuts the texts into words"):
        list(seqtag.read([{"text": "a", "spans": []}]))
