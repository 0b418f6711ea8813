"""Peers get fair features, and the pages are made from the results."""

from __future__ import annotations

import json
import sys

import pytest

from seqtag.features.language import load
from seqtag.features.templates import TemplateSet
from tests.conftest import ROOT

sys.path.append(str(ROOT))  # the suite stands beside the package and is not installed

from benchmarks import features, options, report, summary, tasks

RESULTS = json.loads((ROOT / "docs" / "benchmarks" / "results.json").read_text(encoding="utf-8"))
"""What was measured, of which the pages in the repository are made."""


def corpus_of(task: tasks.Task, sample_dir):
    """The sample's training file for a task."""
    return sample_dir / f"en-sample-train.{'chunk.txt' if task.name == 'chunk' else 'conllu'}"


@pytest.mark.parametrize("name", ["upos", "chunk"])
def test_peers_get_the_features_of_the_presets(name, sample_dir):
    task = tasks.TASKS[name]
    preset = load("chunk" if name == "chunk" else "pos")
    compiled = TemplateSet(
        tuple(template for template in preset.templates if not template.label_offsets)
    ).compile(task.columns)
    for sentence in tasks.read(task, corpus_of(task, sample_dir))[0]:
        rows = [(word,) if isinstance(word, str) else word for word in sentence]
        given_to_peers = features.features(task.columns, sentence)
        for i, found in enumerate(given_to_peers):
            expected = set()
            for number, terms in enumerate(compiled.templates):
                values = [_value(compiled, rows, use, i + offset) for use, offset in terms]
                if None not in values:
                    expected.add(f"{number}={' '.join(values)}")
            assert set(found) == expected
            assert len(found) == len(expected)


def _value(compiled, rows, attribute, position):
    if not 0 <= position < len(rows):
        return features.LEFT if position < 0 else features.RIGHT
    column = compiled.columns.index(compiled.attributes[attribute].column)
    return compiled.apply(attribute, rows[position][column])


# ----------------------------------------------------------------- pages
def test_pages_in_the_repository_are_made_from_the_results_in_it(tmp_path):
    docs = ROOT / "docs"
    tried = json.loads((docs / "benchmarks" / "options.json").read_text(encoding="utf-8"))
    again = "write it with python -m benchmarks.report, or .options --page"
    assert (docs / "benchmarks.md").read_text(encoding="utf-8") == report.render(RESULTS), again
    for page, name, module, found in (
        (docs / "how-to" / "settings.md", "options", "options", options.page(tried)),
        (ROOT / "README.md", "measured", "report", summary.measured(RESULTS)),
    ):
        copy = tmp_path / page.name
        copy.write_bytes(page.read_bytes())
        summary.put(copy, name, module, found)
        assert copy.read_text(encoding="utf-8") == page.read_text(encoding="utf-8"), again
