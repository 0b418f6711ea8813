"""Tools that the page "Before you tag" names convert what it says, where they are installed."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

import seqtag

TAGGER = seqtag.load("en").tagger("upos")

CHAT = """@UTF8
@Begin
@Languages:\teng
@Participants:\tMOT Mother
@ID:\teng|norvale|MOT|||||Mother|||
*MOT:\twhere is it ?
%mor:\tadv|where aux|be pro|it ?
@End
"""
TEXT_GRID = """File type = "ooTextFile"
Object class = "TextGrid"

xmin = 0
xmax = 2
tiers? <exists>
size = 1
item []:
    item [1]:
        class = "IntervalTier"
        name = "words"
        xmin = 0
        xmax = 2
        intervals: size = 2
        intervals [1]:
            xmin = 0
            xmax = 1
            text = "Dogs"
        intervals [2]:
            xmin = 1
            xmax = 2
            text = "bark"
"""


@pytest.mark.skipif(find_spec("ftfy") is None, reason="needs ftfy")
def test_ftfy_restores_text_that_was_decoded_twice(tmp_path):
    (tmp_path / "twice.txt").write_text("It\u00e2\u20ac\u2122s a caf\u00c3\u00a9.\n", "utf-8")
    line = [sys.executable, "-m", "ftfy.cli", tmp_path / "twice.txt"]
    assert subprocess.check_output(line, encoding="utf-8") == "It's a caf\u00e9.\n"


def test_pandoc_writes_the_text_of_html():
    pypandoc = pytest.importorskip("pypandoc")
    html = "<p>The <b>dog</b> barks. " + 20 * "It is late. " + "</p>"
    text = pypandoc.convert_text(html, "plain", "html", ["--wrap=none"])
    assert text == "The dog barks. " + " ".join(20 * ["It is late."]) + "\n"


def test_pylangacq_reads_the_words_of_chat(tmp_path):
    pylangacq = pytest.importorskip("pylangacq")
    (tmp_path / "a.cha").write_text(CHAT)
    words = pylangacq.read_chat(str(tmp_path / "a.cha")).words()
    assert words == ["where", "is", "it", "?"]
    assert TAGGER.tag(words) == ["ADV", "AUX", "PRON", "PUNCT"]


def test_praatio_reads_the_words_of_a_text_grid(tmp_path):
    textgrid = pytest.importorskip("praatio.textgrid")
    (tmp_path / "a.TextGrid").write_text(TEXT_GRID)
    [tier] = textgrid.openTextgrid(str(tmp_path / "a.TextGrid"), False).tiers
    assert [entry.label for entry in tier.entries] == ["Dogs", "bark"]


def test_cassis_reads_the_spans_of_a_layer(tmp_path):
    cassis = pytest.importorskip("cassis")
    types = cassis.TypeSystem()
    layer = types.create_type("custom.Name", "uima.tcas.Annotation")
    types.create_feature(layer, "value", "uima.cas.String")
    cas = cassis.Cas(types)
    cas.sofa_string = "Mira Falk ran."
    cas.add(layer(begin=0, end=9, value="PER"))
    cas.to_xmi(tmp_path / "a.xmi")
    types.to_xml(tmp_path / "TypeSystem.xml")
    with (tmp_path / "TypeSystem.xml").open("rb") as file:
        types = cassis.load_typesystem(file)
    with (tmp_path / "a.xmi").open("rb") as file:
        cas = cassis.load_cas_from_xmi(file, types)
    spans = [(each.begin, each.end, each.value) for each in cas.select("custom.Name")]
    assert (cas.sofa_string, spans) == ("Mira Falk ran.", [(0, 9, "PER")])
    rows = seqtag.from_spans([cas.sofa_string], [spans])
    [name] = seqtag.train(rows, min_count=1)(cas.sofa_string).ents
    assert (name.text, name.label) == ("Mira Falk", "PER")
