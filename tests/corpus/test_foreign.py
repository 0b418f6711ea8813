"""Formats that are not read are refused by name, wherever their marks stand; prose is text."""

from __future__ import annotations

import io

import pytest

import seqtag
from seqtag.errors import CorpusError
from tests.command_line import call, home

__all__ = ["call", "home"]

# A beginning, lines that recur, the name in the message.
FOREIGN = {
    "xml": ('<?xml version="1.0"?>\n<TEI>\n', "", "XML"),
    "tei without declaration": ("<TEI>\n", "<p><w>Mira</w> <w>works</w></p>\n", "XML"),
    "elements": ("", '<w pos="NN">dog</w>\n', "HTML or XML"),
    "html": ("<!DOCTYPE html>\n<html>\n", "", "HTML"),
    "fragment": ("<p>The <b>dog</b> barks.&nbsp;It is late.</p>\n", "", "HTML or XML"),
    "wrapped fragment": ("", "<p>The dog barks and\ngoes <b>home</b>.</p>\n", "HTML or XML"),
    "brat": ("T1\tPER 0 3\tAda\nT2\tLOC 5 9\tRome\n", "", "brat's .ann"),
    "webanno": ("#FORMAT=WebAnno TSV 3.3\n#T_SP=x\n\n", "", "WebAnno TSV"),
    "json": ('{"version": "1", "documents": [\n', "", "JSON"),
    "json array": ("[\n", ' {\n  "tokens": ["Mira"]\n },\n', "JSON"),
    "opennlp": (
        "It was late .\n",
        "<START:person> Mira Falk <END> works .\nIt is late .\nDogs bark .\n",
        "text with marks of names",
    ),
    "enamex": (
        "It was late.\n",
        'In <ENAMEX TYPE="LOC">Norvale</ENAMEX>.\nWhy?\n',
        "text with marks of names",
    ),
    "elements of names": ("", "<person>Mira Falk</person> ran.\n", "text with marks of names"),
    "brackets": ("", "[PER Mira Falk ] visited [LOC Norvale ] .\n", "text with marks of names"),
    "links": ("", "[Mira Falk](PER) visited [Norvale](LOC).\nWhy?\n", "text with marks of names"),
    "rasa": (
        'version: "3.1"\nnlu:\n- intent: go\n  examples: |\n',
        "    - go to [Norvale](city)\n    - go\n    - go now\n",
        "text with marks of names",
    ),
    "python": (
        "import spacy\nTRAIN_DATA = [\n",
        '    ("Mira ran.", {"entities": [(0, 4, "PER")]}),\n',
        "Python source",
    ),
    "python list": ("data = [\n", "[('Mira', 'NNP'), ('ran', 'VBD')],\n", "Python source"),
    "srt": ("", "1\n00:00:01,000 --> 00:00:03,500\nWhere were you\nall day?\n\n", "subtitles"),
    "vtt": ("WEBVTT\n\n", "00:01.000 --> 00:03.500\nWhere?\n\n", "subtitles"),
    "chat": ("@UTF8\n@Begin\n", "*MOT:\twhere is it ?\n%mor:\tadv|where\n", "subtitles or a trans"),
    "elan": (
        "Tier\tBegin\tEnd\tAnnotation\n",
        "S1\t00:00:00.100\t00:00:00.900\tit was late\n",
        "subtitles or a transcript",
    ),
    "cg-3": ("", '"<dogs>"\n\t"dog" N Pl\n"<.>"\n\t"." PUNCT\n', "analyses of CG-3"),
    "apertium": ("", "^dogs/dog<n><pl>$ ^bark/bark<vblex>$\n", "analyses of CG-3"),
    "hfst": ("", "koirat\tkoira+N+Pl\t0,000000\n\n", "analyses of CG-3"),
    "omorfi": ("", "koirat\t[WORD_ID=koira][NUM=PL]\t0.0\n\n", "analyses of CG-3"),
    "ssf": ('<Sentence id="1">\n', "1.1\tdog\tNN\t<fs af='dog,n,,,,,,'>\n", "analyses of CG-3"),
    "crfsuite": ("", "B-PER\tw[0]=Mira\tcap:1.0\nO\tw[0]=ran\tcap:0.0\n\n", "attributes of CRFs"),
    "lists in cells": (
        "id,sentence,tags\n",
        "1,Mira ran .,\"['B-PER', 'O', 'O']\"\n",
        "lists in the cells",
    ),
    "numbers in cells": ("", "Mira ran .\t[1, 0, 0]\n", "lists in the cells"),
    "labels in one cell": ("", "Mira ran .\tB-PER O O\n", "sentences with all labels"),
    "tags in one cell": ("", '"Mira ran .","NNP VBD ."\n', "sentences with all labels"),
    "bars": ("", "Mira ran . ||| B-PER O O\n", "sentences with all labels"),
    "in turn": ("", "Mira ran .\nB-PER O O\n\n", "lines of words and lines of labels"),
    "labels alone": ("", "B-PER O O\nO O\n", "labels without words"),
}


@pytest.mark.parametrize(("start", "rows", "name"), FOREIGN.values(), ids=FOREIGN)
def test_other_formats_are_refused_by_name(start, rows, name):
    with pytest.raises(
        CorpusError, match=rf"^<stream>:\d+: expected a corpus or text, found {name}"
    ):
        seqtag.sniff(io.BytesIO((start + 10 * rows).encode()))


def test_the_command_line_refuses_them_unless_the_format_is_named(tmp_path, call):
    text = "Dogs bark .\n<START:person> Mira <END> ran .\n"
    (tmp_path / "in.txt").write_text(text)
    for command in (["tag"], ["train", "-o", tmp_path / "m.seqtag"]):
        done = call(*command, tmp_path / "in.txt")
        assert done.code == 1
        assert "in.txt:2: expected a corpus or text, found text with marks of names" in done.err
        assert "(1 of 2 lines); convert it, for example with a script that writes" in done.err
    done = call("tag", "--format", "tokens", "--to", "tokens", tmp_path / "in.txt")
    assert (done.code, done.out.decode()) == (0, text)


@pytest.mark.parametrize(
    "text",
    [
        "Write <b>dog</b> for bold text.\nIt is <b> in HTML.\nSee https://norvale.example/a.\n",
        "Use the <PER> mark.\nIt goes around names.\n",
        "# Setup\n\n```html\n<p>A dog</p>\n```\n\nThen run it with the file.\nIt works.\n",
        '<p align="center">\n<img src="a.png">\n</p>\n\n'
        + "One line.\nWhy is it here, then?\nThe page has a long line.\nAnother.\n"
        "So it goes on and on, with more.\nAnd on.\nIt ends.\n",
        "- See [install](install.md)\n- See [train](train.md)\n- See [tag](https://a.example)\n",
        "[12/03/2025, 09:14] Mira: Where are you?\n[12/03/2025, 09:15] Tavo: At home.\n",
        "<Mira> where are you?\n<Tavo> at home\n<Mira> ok\n",
        "From: mira@norvale.example\nTo: tavo@norvale.example\n\n> Where are you?\nI am at home now.\n",
        "\\section{Intro}\nWe train~\\cite{falk} with $x_i = 3$.\n",
        "The town was founded in 1802.<ref>Falk 2001</ref>\n* first\n* second {{x|y=1}}\n",
        "2025-03-12 09:14:02,113 ERROR could not bind\n2025-03-12 09:14:03,001 INFO again\n",
        "Meet at 09:15 --> room 3, please.\nBring (all) the notes.\n",
        "WHY NOT GO\n! ! !\nOH NO\n! !\n",
    ],
)
def test_prose_that_mentions_marks_is_text(text):
    more = "It was late. The dog barked at the postman, who ran away.\nWhy did he run?\n"
    assert seqtag.sniff(io.BytesIO((text + more).encode())).format == "text"
