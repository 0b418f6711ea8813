"""UDPipe's interface: raw or tokenized text in, and the formats of UDPipe out."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from seqtag.corpus import read, render
from seqtag.corpus.stream import TextBytes
from seqtag.corpus.surface import Surface, surface_of
from seqtag.errors import SeqtagError
from seqtag.segmentation.reading import ConlluWriter
from seqtag.serve.annotation import check_columns, documents, text_of
from seqtag.serve.requests import check_fields
from seqtag.tagging.streams import tag_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from seqtag.corpus import Sentence
    from seqtag.corpus.read import SentenceStream
    from seqtag.serve.work import Deadline
    from seqtag.tagging.pipeline import Pipeline

_FIELDS = ("data", "model", "tokenizer", "tagger", "parser", "input", "output")
_INPUTS = ("conllu", "horizontal", "vertical")
_OUTPUTS = {  # with their options
    "conllu": ("", "v2"),
    "horizontal": ("", "paragraphs"),
    "vertical": ("", "paragraphs"),
    "plaintext": ("", "normalized_spaces"),
}
_TOKENIZER_OPTIONS = ("presegmented", "ranges", "normalized_spaces")
_IGNORED_OPTIONS = {"", "joint_with_parsing"}


def process(
    pipeline: Pipeline, fields: Mapping[str, str], deadline: Deadline
) -> tuple[str, list[str]]:
    r"""Return the answer to the fields of UDPipe's ``/process``, and remarks on it.

    Raises
    ------
    SeqtagError
        If a field is unknown or has a value that is not supported, or the data are malformed.

    Examples
    --------
    >>> import seqtag
    >>> from seqtag.serve.work import Deadline
    >>> fields = {"data": "Time flies. Why?", "tokenizer": "presegmented", "output": "horizontal"}
    >>> process(seqtag.load("en"), fields, Deadline(60))
    ('Time flies . Why ?\n', [])
    """
    check_fields(fields, _FIELDS)
    remarks: list[str] = []
    output, _, option = (fields.get("output") or "conllu").partition("=")
    if output not in _OUTPUTS or option not in _OUTPUTS[output]:
        known = [f"{name}={each}" if each else name for name in _OUTPUTS for each in _OUTPUTS[name]]
        found = fields["output"][:80]
        msg = f"expected output {', '.join(known)}, found {found!r}"
        raise SeqtagError(msg)
    if "parser" in fields:
        remarks.append("This model does not parse: HEAD and DEPREL are unchanged.")
    wanted = fields.get("input") or "conllu"
    if "tagger" in fields and ("tokenizer" in fields or wanted != "conllu"):
        check_columns(pipeline)  # those of CoNLL-U can be in the data
    data = text_of(fields.get("data"), "data")
    if output == "conllu" and "tagger" in fields and fields.get("tokenizer") == "":
        [document] = documents(pipeline, [data], deadline)
        return str(document), remarks
    stream = _input(pipeline, data, fields, deadline, remarks)
    if output == "conllu":
        taggers = pipeline.taggers if "tagger" in fields else []
        return b"".join(deadline.watch(tag_text(taggers, stream, "conllu"))).decode(), remarks
    return "".join(_written(deadline.watch(stream), output, option)), remarks


def _input(
    pipeline: Pipeline,
    data: str,
    fields: Mapping[str, str],
    deadline: Deadline,
    remarks: list[str],
) -> SentenceStream:
    """Return the data as a stream of sentences of CoNLL-U."""
    wanted = fields.get("input") or "conllu"
    generic, _, options = wanted.partition("=")
    if "tokenizer" in fields or generic == "generic_tokenizer":
        if "tokenizer" in fields:
            options = fields["tokenizer"]
            if generic in ("horizontal", "vertical"):
                remarks.append(f"The tokenizer reads raw text: the input {generic} is ignored.")
        names = {each.partition("=")[0] for each in options.split(";")}
        if unknown := names - _IGNORED_OPTIONS - {*_TOKENIZER_OPTIONS}:
            found, known = min(unknown)[:80], ", ".join(_TOKENIZER_OPTIONS)
            remarks.append(f"Unknown option of the tokenizer: {found!r} (known: {known}).")
        writer = ConlluWriter(
            token_ranges="ranges" in names, normalized_spaces="normalized_spaces" in names
        )
        text = read(TextBytes(data.encode()), "text")
        return pipeline.segmented(text, writer=writer, presegmented="presegmented" in names)
    if wanted not in _INPUTS:
        msg = f"expected input {', '.join(_INPUTS)}, or a tokenizer, found {wanted[:80]!r}"
        raise SeqtagError(msg)
    data = data.replace("\r\n", "\n")  # as Python's email package sends line breaks in forms
    conllu = data if wanted == "conllu" else "".join(deadline.watch(_read_tokens(data, wanted)))
    return read(io.BytesIO(conllu.encode()), "conllu")


def _read_tokens(data: str, kind: str) -> Iterator[str]:
    """Yield tokenized sentences as CoNLL-U; a no-break space is a space within a word."""
    lines = data.split("\n")
    if kind == "horizontal":
        sentences: Iterable[list[str]] = (re.split("[ \t]+", line) for line in lines)
    else:
        sentences = _blocks(line.partition("\t")[0].strip(" ") for line in lines)
    number, opening = 0, "# newdoc\n# newpar\n"
    for words in sentences:
        forms = [word.replace("\u00a0", " ") for word in words if word]
        if forms:
            number += 1
            yield f"{opening}# sent_id = {number}\n{render({'form': forms}, 'conllu')}"
            opening = ""
        elif number:
            opening = "# newpar\n"


def _blocks(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield the lines before each empty line, and the last lines."""
    block: list[str] = []
    for line in lines:
        if line:
            block.append(line)
        else:
            yield block
            block = []
    yield block


def _written(sentences: Iterable[Sentence], output: str, option: str) -> Iterator[str]:
    """Yield the sentences in a format other than CoNLL-U."""
    begun = False
    for sentence in sentences:
        surface = surface_of(sentence)
        if not surface.tokens:
            continue
        if begun and surface.opens and option:
            yield "\n"
        begun = True
        if output == "horizontal":
            yield " ".join(word.replace(" ", "\u00a0") for word in sentence.words) + "\n"
        elif output == "vertical":
            yield "\n".join(sentence.words) + "\n\n"
        else:
            yield _normalized(surface) if option else surface.text


def _normalized(surface: Surface) -> str:
    """Return the text of a sentence on one line, with single spaces."""
    tokens = (f"{each.form} " if each.spaces_after else each.form for each in surface.tokens)
    return "".join(tokens).rstrip(" ") + "\n"
