"""Tagging of texts with other fields: an object of JSON for each, with its spans."""

from __future__ import annotations

import json
import logging
from collections import Counter
from itertools import tee
from typing import TYPE_CHECKING, Any

from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from seqtag.corpus.texts import TextRecord
    from seqtag.tagging.streams import TagCounts, TagOptions

_log = logging.getLogger("seqtag")


def tagged_texts(
    pipeline: Any,
    records: Iterable[TextRecord],
    options: TagOptions,
    threads: int,
    counts: TagCounts,
) -> Iterator[bytes]:
    """Yield a line for each text, in order: its object, with what was found.

    These are ``spans`` if there are columns of chunks, and ``sentences`` if there are others.
    Fields that are replaced by what was found are reported.
    """
    replaced = Counter[str]()
    unit = options.offsets or ("utf16" if options.to == "doccano" else "codepoint")
    records, others = tee(records)
    texts = (each.text for each in others)
    how: dict[str, Any] = {"threads": threads, "paragraphs": options.paragraphs}
    documents = pipeline.pipe(texts, options=options, **how)
    for record, document in zip(records, documents, strict=True):
        counts.add(len(document), len(document.words))
        found: dict[str, Any] = {}
        if pipeline.schemes:
            found["spans"] = document.to_dict(unit)["spans"]
        if {*pipeline.columns} - {*pipeline.schemes}:
            found["sentences"] = [*document.to_dicts(unit)]
        written = _written(record, found, options.to)
        replaced.update(
            name
            for name, value in record.fields.items()
            if value and written.get(name, value) != value
        )
        line = json.dumps(written, ensure_ascii=False)
        yield f"{line}\n".encode("utf-8", "backslashreplace")  # for surrogates in other fields
    for name, count in replaced.items():
        _log.warning("the field %s was replaced in %d of the objects", name, count)


def _written(record: TextRecord, found: dict[str, Any], to: str | None) -> dict[str, Any]:
    """Return the object to write: for Label Studio, a task of its template of named entities."""
    if to in (None, "jsonl"):
        return {**record.fields, **found}
    if to == "doccano":
        triples = [[each["start"], each["end"], each["label"]] for each in found["spans"]]
        return {**record.fields, "text": record.text, "label": triples}
    regions = []
    for span in found["spans"]:
        value = {"start": span["start"], "end": span["end"], "text": span["text"]}
        names = {"from_name": "label", "to_name": "text", "type": "labels"}
        regions.append({**names, "value": {**value, "labels": [span["label"]]}})
    prediction = {"model_version": f"seqtag {__version__}", "result": regions}
    if scores := [each["score"] for each in found["spans"] if "score" in each]:
        prediction["score"] = min(scores)
    is_task = isinstance(record.fields.get("data"), dict)
    task = record.fields if is_task else {"data": {**record.fields, "text": record.text}}
    return {**task, "predictions": [prediction]}
