"""The surface of a treebank: tokens, ranges, white space, paragraphs."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from seqtag.corpus import read, sentence_of
from seqtag.corpus.surface import (
    escape_spaces,
    paragraphs_of,
    raw_text_of,
    surface_of,
    unescape_spaces,
)


def conllu(*sentences: str):
    """Sentences of lines ``id form misc``; lines with ``#`` are comments."""
    text = ""
    for sentence in sentences:
        for line in sentence.splitlines():
            if line.startswith("#"):
                text += line + "\n"
                continue
            number, form, misc = line.split(" ")
            text += "\t".join([number, form.replace("~", " "), *["_"] * 7, misc]) + "\n"
        text += "\n"
    return list(read(io.BytesIO(text.encode()), "conllu"))


def test_ranges_are_tokens_and_empty_nodes_are_none():
    [sentence] = conllu("1-2 don't SpaceAfter=No\n1 do _\n2 n't _\n2.1 it _\n3 ! SpacesAfter=\\n")
    tokens = surface_of(sentence).tokens
    assert [(t.form, t.first, t.words, t.is_range) for t in tokens] == [
        ("don't", 0, 2, True),
        ("!", 2, 1, False),
    ]
    assert surface_of(sentence).text == "don't!\n"


def test_white_space_before_and_within():
    [sentence] = conllu(
        "1 10~000 SpacesBefore=\\t|SpacesInToken=10\\n000\n2 | SpacesAfter=\\s\\s|X=Y"
    )
    assert surface_of(sentence).text == "\t10\n000 |  "
    assert surface_of(sentence).tokens[0].form == "10 000"


def test_the_text_says_where_no_space_is_if_misc_does_not():
    rows = "1 Hi _\n2 , _\n3-4 don't _\n3 do _\n4 n't _\n5 ! _"
    assert surface_of(*conllu("# text = Hi,  don't!\n" + rows)).text == "Hi,  don't! "
    for other in ("Hi, don't", "Hi, don't! No", "Ho, don't!", ""):
        assert surface_of(*conllu(f"# text = {other}\n{rows}")).text == "Hi , don't ! "
    said = rows.replace("Hi _", "Hi SpaceAfter=No")
    assert surface_of(*conllu("# text = Hi, don't!\n" + said)).text == "Hi, don't ! "


@given(
    st.text("ab ", min_size=1).filter(str.strip),
    st.sampled_from(["Gloss", "space", "SpaceAfterwards", "X[SpaceAfter]", "Space", "LSpaceAfter"]),
    st.sampled_from(["Space", "SpaceAfter", "SpacesAfter", "SpaceAfter=No"]),
)
def test_only_the_keys_of_white_space_replace_the_text(text, key, value):
    words = text.split()
    rows = "\n".join(f"{i} {word} {key}={value}|Z=1" for i, word in enumerate(words, 1))
    [sentence] = conllu(f"# text = {text}\n{rows}")
    assert surface_of(sentence).text.strip() == text.strip()


def test_marks_open_paragraphs_and_documents():
    found = conllu(
        "# newdoc id = a\n# newpar\n1 A _",
        "1 B _",
        "# newpar id = p2\n1 C _",
        "#newdoc\n1 D _",
        "# newparty\n1 E _",
    )
    assert [surface_of(s).opens for s in found] == ["document", "", "paragraph", "document", ""]
    paragraphs = [[s.tokens[0].form for s in p] for p in paragraphs_of(found)]
    assert paragraphs == [["A", "B"], ["C"], ["D", "E"]]


def test_other_formats_have_a_token_for_each_word():
    found = surface_of(sentence_of({"form": ["a", "b"], "misc": ["SpaceAfter=No", "_"]}))
    assert found.text == "ab "
    assert surface_of(sentence_of({"form": ["a", "b"]})).text == "a b "


def test_nothing_gives_nothing():
    assert surface_of(sentence_of({"form": []})).tokens == []
    assert list(paragraphs_of([])) == []
    assert list(paragraphs_of(conllu("# a comment"))) == []


@given(st.text(st.sampled_from("\\ \t\r\n|snx\u00a0\u2028")))
def test_escapes_are_undone(text):
    escaped = escape_spaces(text)
    assert unescape_spaces(escaped) == text
    assert not set(escaped) & set(" \t\r\n|")


def test_raw_text():
    found = conllu(
        "# newdoc\n1 A SpaceAfter=No\n2 . SpacesAfter=\\n\\n",
        "# newpar\n1-2 don't _\n1 do _\n2 n't _\n2.1 it _\n3 go SpaceAfter=No\n4 . _",
        "1 B SpacesBefore=\\s|SpaceAfter=No",
        "# newpar id = p3\n1 10~000 SpacesAfter=\\n",
    )
    assert raw_text_of(found) == "A.\n\ndon't go.  B\n\n10 000\n"
    assert raw_text_of(found[:1]) == "A.\n"
    assert raw_text_of([]) == ""
