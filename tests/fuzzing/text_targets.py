"""What must hold of every file of words, template file and text: all of it is in what comes out."""

from __future__ import annotations

import io
import json
import logging
from contextlib import suppress
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from seqtag.corpus import (
    FORMATS,
    LIMITS,
    READABLE,
    WRITABLE,
    ReadLimits,
    Sentence,
    read,
    render,
    stream,
)
from seqtag.corpus.lines import DOCSTART, is_comment
from seqtag.corpus.stream import TextBytes
from seqtag.corpus.surface import surface_of
from seqtag.errors import CorpusError, LabelError, SeqtagError, TemplateError
from seqtag.features.encoder import Encoder
from seqtag.features.language import parse
from seqtag.features.normal_forms import normal_forms
from seqtag.labels import lemmas, schemes
from seqtag.labels.column import LabelColumn
from seqtag.segmentation import characters, multiword
from seqtag.segmentation import reading as writing
from seqtag.segmentation.rules import RuleSegmenter
from seqtag.storage.compression import compression_of
from seqtag.tables.lexicon import read_table
from seqtag.tables.table import WordTable
from seqtag.tables.tsv import read_word_table, write_word_table
from seqtag.tagging.pipeline import Pipeline
from tests.fuzzing.choices import Choices, logged
from tests.fuzzing.good_models import good_pipeline
from tests.strategies import NATIVE, REFERENCE

if TYPE_CHECKING:
    from collections.abc import Sequence

COLUMNS = [None, None, ("form",), ("form", "pos"), ("pos", "form", "chunk"), ("id", "form", "upos")]
_TIGHT = ReadLimits(3, 40)
_PROBE = ["", "a", "Über-x", "\ud800", "don't", "e\u0301" * 9, "12", "# x"]


# ----------------------------------------------------------------- files of words
def readers(data: bytes) -> str:
    """Any file in any format: all of its bytes come back, or an error says why not."""
    choices = Choices(data)
    format = choices.pick(READABLE)
    columns = choices.pick(COLUMNS) if format in ("auto", "columns") else None
    limits = choices.pick([LIMITS, LIMITS, LIMITS, _TIGHT])
    chunk = 1 + choices.below(64)
    file = choices.rest()
    whole = _read(file, format, columns, limits)
    if b"\0" not in file[:64]:  # UTF-16 is found out by as many bytes as there are
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(stream, "CHUNK", chunk)
            _same(_read(file, format, columns, limits), whole)
    if isinstance(whole, str):
        return whole
    sentences = list(read(io.BytesIO(file), format, columns=columns, limits=limits))
    assert "".join(sentence.raw for sentence in sentences).encode() == _plain(file)
    for sentence in sentences:
        _check_sentence(sentence)
    return "accepted"


def _read(
    file: bytes, format: str, columns: Sequence[str] | None, limits: ReadLimits
) -> list[tuple[str, int, list[str]]] | str:
    """What is read; the message if it is refused."""
    try:
        found = read(io.BytesIO(file), format, columns=columns, limits=limits)
        return [(each.raw, each.line, each.words) for each in found]
    except CorpusError as error:
        assert len(str(error)) < 2000, error
        return str(error)


def _same(found: object, expected: object) -> None:
    """However bytes arrive they are read alike; which of two errors is met first may differ."""
    if isinstance(found, str) and isinstance(expected, str):
        return  # damage behind a bad line, an encoding found out of as many bytes as there are
    assert found == expected


def _plain(file: bytes) -> bytes:
    """What a compressed file holds."""
    kind = compression_of(file)
    if kind is None:
        return file
    return b"".join(kind.decompress([file], "<stream>"))


def _check_sentence(sentence: Sentence) -> None:
    """Columns are as long as the sentence, what was read is written, other formats take it."""
    columns = {name: sentence.column(name) for name in sentence.columns}
    assert {*map(len, columns.values())} <= {len(sentence)}
    assert sentence.words == columns["form"]
    with suppress(CorpusError):  # of formats that have no room
        assert sentence.replace(columns) == sentence.raw
    if not len(sentence) or any(
        word.startswith((DOCSTART, "\ufeff")) or "\0" in word for word in sentence.words
    ):
        return  # elsewhere a new document, a mark at the start of a file, or half of UTF-16
    for to in WRITABLE:
        try:
            text = render(columns, to)
        except SeqtagError:
            continue
        if to == "jsonl":
            assert json.loads(text)["tokens"] == sentence.words
            assert text.count("\n") == 1
        if to == "tagged" and any("/" in v for n in columns if n != "form" for v in columns[n]):
            continue  # the slash before the tag is ambiguous
        if FORMATS[to].is_readable:
            kinds = {"columns": tuple(columns)} if to == "columns" else {}
            if FORMATS[to].is_table and to != "conllu":
                odd = any(each != each.strip(" \u00a0") for each in sentence.words)
                if "\0" in text or odd or "sentence" in columns or is_comment(text.split("\n")[0]):
                    continue  # UTF-32; blanks around a value are left out; several sentences
                kinds |= {"header": False, "comment": "none"}  # words may look like either
            name = "columns" if to == "columns" else to
            [again] = [s for s in read(io.BytesIO(text.encode()), name, **kinds) if len(s)]
            assert again.words == sentence.words, (to, text)


# ----------------------------------------------------------------- raw text
def text(data: bytes) -> str:
    """Raw text through a pipeline: every character is there again; the kernel does as Python."""
    choices = Choices(data)
    paragraphs = choices.pick(["auto", "blank", "line"])
    chunk = 1 + choices.below(64)
    raw = choices.rest()
    native = _cut(raw, paragraphs, good_pipeline())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "CHUNK", chunk)
        patch.setattr(writing.backend, "WordScanner", None)
        patch.setattr(characters.backend, "Characters", None)
        patch.setattr(characters.backend, "ChunkModel", None)
        patch.setattr(characters.backend, "Decoder", REFERENCE.Decoder)
        patch.setattr(characters.backend, "hash_strings", REFERENCE.hash_strings)
        # Paragraphs, and UTF-16, are told by what has arrived.
        if paragraphs != "auto" and b"\0" not in raw[:64]:
            _same(_cut(raw, paragraphs, _reference_pipeline()), native)
    try:
        whole = raw.decode()
    except UnicodeDecodeError:
        assert isinstance(native, str)
        return native
    if isinstance(native, str):
        return native
    rules = writing.SegmentedText(read(TextBytes(whole.encode()), "text"), RuleSegmenter())
    for sentences in (read(io.BytesIO(b"".join(native)), "conllu"), rules):
        found = "".join(surface_of(sentence).text for sentence in sentences)
        assert found in (whole, ""), (found, whole)
        assert found or not whole.strip("\ufeff").strip()
    document = good_pipeline()(whole)
    for token in document.tokens:
        assert whole[token.start : token.end] == token.text
    found = document.json_sentences()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing.backend, "json_sentences", None)
        assert document.json_sentences() == found
    return "accepted"


@cache
def _reference_pipeline() -> Pipeline:
    """Another one of the same models, which keeps decoders and numbers of the reference."""
    return Pipeline(good_pipeline().models)


def _cut(raw: bytes, paragraphs: str, pipeline: Pipeline) -> list[bytes] | str:
    """A text as CoNLL-U; the message if it is refused."""
    if compression_of(raw) is not None:
        return "compressed"
    try:
        pieces = pipeline.segmented(read(io.BytesIO(raw), "text"), paragraphs=paragraphs)
        return [b"".join(block.text.encode() for block in pieces.blocks())]
    except CorpusError as error:
        return str(error)


# ----------------------------------------------------------------- small languages
def templates(data: bytes) -> str:
    """Template files, ours and those of CRF++ and Wapiti: read as written, or refused."""
    text = data.decode("utf-8", "replace")
    try:
        with logged(logging.WARNING):
            found = parse(text)
        compiled = found.compile(["form", "pos", "chunk", "lemma"])
    except TemplateError as error:
        return str(error)
    assert parse(str(found)) == found
    keys = []
    for backend in (REFERENCE, NATIVE or REFERENCE):
        encoder = Encoder(compiled, backend.hash_strings)
        types = encoder.encode([[_PROBE]] * len(compiled.columns), len(_PROBE))
        keys.append((types.tolist(), encoder.hashes.tolist()))
    assert keys[0] == keys[1]
    return "accepted"


def labels(data: bytes) -> str:
    """Labels of every kind: chunks, scripts of lemmas and of tokens, labels of two columns."""
    choices = Choices(data)
    source, target = choices.pick(schemes.SCHEMES), choices.pick(schemes.SCHEMES)
    found = choices.rest().decode("utf-8", "replace").split("\n")
    said = "accepted"
    schemes.spans(found)
    try:
        schemes.detect_scheme([found])
        there = schemes.convert(found, source, target)
        assert not schemes.invalid_transitions(schemes.count_transitions([there]), target)
        assert schemes.convert(there, target, source) == schemes.convert(found, source, source)
    except LabelError as error:
        said = str(error)
    for form, label in pairwise(found):
        try:
            assert not {*"\t\r\n"} & {*lemmas.lemma_of(form, label)}
        except LabelError as error:
            said = str(error)
        letters = multiword.letters_of(form)
        assert all(multiword.words_of(form, [label] * len(letters)))
        script = multiword.SplitScript.read(label)
        assert str(multiword.SplitScript.read(str(script))) == str(script)
    try:
        column = LabelColumn("upos+feats")
        column.split(found)
    except LabelError as error:
        said = str(error)
    return said


# ----------------------------------------------------------------- tables of words
def word_tables(data: bytes) -> str:
    """A table of words: every row is in it, and in what is written of it; or an error says why not."""
    try:
        header, rows = read_word_table(io.BytesIO(data))
    except CorpusError as error:
        return str(error)
    with TemporaryDirectory() as folder:
        path = Path(folder, "again.classes")
        with suppress(CorpusError):  # a line break of another kind in a word
            write_word_table(path, header, [(word, *values) for word, values in rows])
            assert read_word_table(path) == (header, rows)
        path.write_bytes(data)
        try:
            table = read_table(path)
        except (CorpusError, TemplateError) as error:
            return str(error)
    if (
        table.kind == "phrase"
    ):  # lines without values; tests/tables/test_phrases.py draws such lists
        return f"{len(table) > 0} phrases"
    assert 0 < len(table) <= len(rows)
    words = normal_forms([word for word, _ in rows])
    for found, (_, values) in zip(table.of_words(words), rows, strict=True):
        assert found is not None
        assert {*values} <= {*found.split("|")} or any("|" in value for value in values)
    assert (
        WordTable.of(table.name, rows, table.words, table.absent, table.kind).values == table.values
    )
    return "accepted"
