"""What must hold of sentences however they come and go: lines of JSON, two files compared."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from seqtag.corpus import read
from seqtag.errors import SeqtagError
from seqtag.evaluation.aligned import score_aligned
from seqtag.evaluation.report import evaluate
from seqtag.evaluation.significance import compare, intervals
from seqtag.labels import schemes
from tests.fuzzing.choices import Choices
from tests.fuzzing.text_targets import COLUMNS
from tests.tagging.test_tables import CHAINS, outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seqtag.corpus import Sentence
    from seqtag.evaluation.report import Report


# ----------------------------------------------------------------- formats that are written
def scanner(data: bytes) -> str:
    """Files of columns in, the same out: no line is lost or changed but for its labels."""
    choices = Choices(data)
    names = choices.pick(CHAINS)
    format = choices.pick(["conllu", "columns", "conllu-plus", "conll2000"])
    options = {"columns": choices.pick(COLUMNS[2:])} if format == "columns" else {"format": format}
    found = _tagged(1 + choices.below(64), choices.rest(), names, **options)
    return found if isinstance(found, str) else "accepted"


def outputs(data: bytes) -> str:
    """Tagged files in every format for programs: the words of the input, line by line."""
    choices = Choices(data)
    to = choices.pick(["jsonl", "jsonl", "tsv", "tokens", "conllu"])
    names = choices.pick(CHAINS)
    format = choices.pick(["conllu", "text", "tagged", "columns", "conll2000"])
    columns = {"columns": ("form", "pos")} if format == "columns" else {}
    chunk, file = 1 + choices.below(64), choices.rest()
    found = _tagged(chunk, file, names, to=to, format=format, **columns)
    if isinstance(found, str):
        return found
    sentences = [s for s in read(io.BytesIO(file), format, **columns) if len(s)]
    if to == "jsonl":
        lines = [json.loads(line) for line in found.decode().split("\n")[:-1]]
        assert [line["tokens"] for line in lines] == [s.words for s in sentences]
        for line, sentence in zip(lines, sentences, strict=True):
            given = {key for key in line if key not in ("tokens", "sent_id", "text", "multiword")}
            assert {len(line[key]) for key in given} <= {len(sentence)}
    elif to == "tsv":
        words, place = [], 1
        for line in found.decode().split("\n")[:-1]:
            row = line.split("\t")
            if row[0] == "sentence":  # the head of a table; CoNLL-U Plus may have columns before it
                place = row.index("form")
            else:
                words.append(row[place])
        assert words == [word for sentence in sentences for word in sentence.words]
    return "accepted"


def _tagged(chunk: int, file: bytes, names: list[str], **options: Any) -> bytes | str:
    """What tagging gives, or a message: the same from the kernel and Python, blocks and threads."""
    try:
        file.decode()
    except UnicodeDecodeError:
        return "not UTF-8"  # how much of it is tagged before is a matter of the blocks
    if b"\0" in file[:64]:
        return "perhaps UTF-16"  # which is found out by as many bytes as there are
    expected = outcome(file, names, backend="reference", **options)
    for threads, size in ((1, 1 << 20), (1, chunk), (3, chunk)):
        found = outcome(file, names, threads=threads, chunk=size, **options)
        # Which of two errors comes first hangs on the blocks.
        assert found == expected or (isinstance(found, str) and isinstance(expected, str))
    return expected


# ----------------------------------------------------------------- two files compared
def evaluation(data: bytes) -> str:
    """Two files, one mostly a damaged copy of the other: figures that are possible, or an error."""
    choices = Choices(data)
    scheme = choices.pick(["auto", None, *schemes.SCHEMES])
    cuts = [(choices.below(5), choices.below(256), choices.below(256)) for _ in range(3)]
    text = choices.rest()
    gold, _, other = text.partition(b"\x1e")
    other = other or _damaged(gold, cuts)
    try:
        read_gold, read_other = _sentences(gold), _sentences(other)
    except SeqtagError as error:
        return str(error)
    said = _compared(read_gold, read_other)
    own = score_aligned(read_gold, read_gold) if not said else None
    if own is not None:
        assert all(each.correct == each.found == each.gold for each in own.metrics.values())
    try:
        report = _labels_compared(read_gold, read_other, scheme)
    except SeqtagError as error:
        return str(error)
    _possible(report)
    return said or "accepted"


def _damaged(data: bytes, cuts: Sequence[tuple[int, int, int]]) -> bytes:
    """A file with lines gone, twice, swapped, cut, or in another form."""
    lines = data.split(b"\n")
    for kind, first, second in cuts:
        a, b = first % len(lines), second % len(lines)
        if kind == 0:
            lines[a], lines[b] = lines[b], lines[a]
        elif kind == 1:
            lines[a:a] = [b""]
        elif kind == 2:
            lines[a] = lines[a].replace(b"N", b"V")
        elif kind == 3:
            lines[a : a + 1] = []
        lines = lines or [b""]
    return b"\n".join(lines)


def _sentences(data: bytes) -> list[Sentence]:
    return list(read(io.BytesIO(data), "conllu"))


def _compared(gold: Sequence[Sentence], other: Sequence[Sentence]) -> str:
    """Texts as the shared task compares them; the message if they are different ones."""
    try:
        report = score_aligned(gold, other, samples=True)
    except SeqtagError as error:
        with pytest.raises(SeqtagError):
            score_aligned(other, gold)
        return str(error)
    back = score_aligned(other, gold)
    for name, counts in report.metrics.items():
        assert 0 <= counts.correct <= min(counts.found, counts.gold), (name, counts)
        if name in ("tokens", "sentences", "words", "upos", "xpos"):
            assert counts.correct == back.metrics[name].correct, name
    assert str(report)
    json.dumps(report.to_dict(), allow_nan=False)
    intervals(report, resamples=3)
    if report.sentences:
        best = score_aligned(gold, gold, samples=True)
        compare(report, best, resamples=3).to_text()
    return ""


def _labels_compared(
    gold: Sequence[Sentence], other: Sequence[Sentence], scheme: str | None
) -> Report:
    """Labels side by side."""
    columns = [[s.column("xpos") for s in side if len(s)] for side in (gold, other)]
    words = [s.words for s in gold if len(s)]
    return evaluate(*columns, words=words, known={"the"}, scheme=scheme, samples=True)


def _possible(report: Report) -> None:
    """Figures between nothing and all, and pages that can be shown."""
    for share in (report.accuracy, report.f1, report.score, report.sentence_accuracy):
        assert share is None or 0 <= share <= 1, report
    for name, counts in report.labels.items():
        assert 0 <= counts.correct <= min(counts.found, counts.gold), name
    assert report.to_text(3)
    assert report._repr_html_()
    if report.scheme is not None:
        assert report.conlleval().endswith("\n")
    json.dumps(report.to_dict(), allow_nan=False)
    intervals(report, resamples=3)
    if report.sentences:
        compare(report, report, resamples=3).to_text()
