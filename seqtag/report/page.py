"""The report as one page of HTML: styles, data and script included, nothing else allowed."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqtag.evaluation.counts import most_frequent
from seqtag.evaluation.significance import NAMES
from seqtag.report.analysis import finite
from seqtag.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from seqtag.report.analysis import Analysis

_PACKAGE = Path(__file__).parent.parent
_MATRIX_LABELS = 24
_TABLE_ROWS = 200
_LISTED_CONFUSIONS = 30
_EXPLANATION_ROWS = 10
_SHOWN_CHARACTERS = 80  # of a word or label


def report_page(analyses: Sequence[Analysis], *, model: str, gold: str) -> str:
    """Return the report of the components of a model.

    Parameters
    ----------
    analyses
        Results of `seqtag.report.analysis.analyze` on the same sentences, one for each component.
    model, gold
        Names of the model and of the file; folders are not shown.

    Returns
    -------
    str
        HTML without references to other files. The tables need no scripts; the browser of errors
        does. The policy of the page allows exactly its style sheet and its script, by their
        digests, so that no content of a corpus can ever run.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_PACKAGE / "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(digest=_digest, number=_number, percent=_percent, short=_short)
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    page = environment.get_template("report.html.jinja").render(
        task=f"{analyses[0].report.task} of " if len(analyses) == 1 else "",
        model=Path(model).name,
        gold=Path(gold).name,
        components=[_component(each) for each in analyses],
        data=_data(analyses),
        style="\n".join(map(asset, ("report/common.css", "report/report.css"))),
        script="\n".join(map(asset, ("report/explanation.js", "report/report.js"))),
        version=__version__,
        metrics=NAMES,
        most_rows=_TABLE_ROWS,
        most_pairs=_LISTED_CONFUSIONS,
    )
    return page.encode("utf-8", "replace").decode()  # replaces lone surrogates


# ----------------------------------------------------------------- filters
def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _number(value: float) -> str:
    return "∞" if finite(value) is None else f"{value:g}"


def _percent(value: float | None, sign: str = "") -> str:
    return "–" if value is None else f"{100 * value:{sign}.2f}"


def _short(text: str, most: int = _SHOWN_CHARACTERS) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


# ----------------------------------------------------------------- what the template shows
def _component(analysis: Analysis) -> dict[str, Any]:
    """Return what the page shows of a component."""
    report = analysis.report
    chunks = [("all", report.chunks)]
    if report.chunk_types.keys() != {""}:
        chunks += [(name or "(no type)", counts) for name, counts in report.chunk_types.items()]
    wrong = {pair: n for pair, n in report.confusion.items() if pair[0] != pair[1]}
    return {
        "analysis": analysis,
        "report": report,
        "wrong": most_frequent(wrong),
        "shown": {(each.gold, each.predicted) for each in analysis.mistakes},
        "matrix": _matrix(report.confusion),
        "labels": sorted(report.labels.items(), key=lambda item: -item[1].errors),
        "chunks": chunks,
    }


def _matrix(confusion: Mapping[tuple[str, str], int]) -> dict[str, Any]:
    """Return the confusion matrix; all but the worst labels are merged into the label None."""
    errors, total = Counter[str](), Counter[str]()
    for pair, n in confusion.items():
        for label in {*pair}:
            total[label] += n
            errors[label] += n if pair[0] != pair[1] else 0
    worst = sorted(total, key=lambda label: (-errors[label], -total[label], label))
    kept = {*worst[:_MATRIX_LABELS]}
    cells = Counter[tuple[str | None, str | None]]()
    for (a, b), n in confusion.items():
        cells[a if a in kept else None, b if b in kept else None] += n
    labels = [*sorted(kept), *([None] if len(worst) > len(kept) else [])]
    most = max((n for (a, b), n in cells.items() if a != b), default=1)

    def heat(n: int) -> int:
        return 1 + min(4, int(5 * (n / most) ** 0.5 - 1e-9))

    return {
        "labels": labels,
        "merged": len(worst) - len(kept),
        "rows": [(a, [(b, cells[a, b], heat(cells[a, b])) for b in labels]) for a in labels],
    }


# ----------------------------------------------------------------- data for the script
def _data(analyses: Sequence[Analysis]) -> dict[str, Any]:
    """Return the errors that are shown, and their sentences, for the script."""
    shown = {each.sentence: analysis for analysis in analyses for each in analysis.mistakes}
    numbers = {s: i for i, s in enumerate(sorted(shown))}
    return {
        "sentences": [
            {
                "words": [_short(word, 2 * _SHOWN_CHARACTERS) for word in sentence.words],
                "at": f"{Path(sentence.source).name}:{sentence.line_of(0)}",
            }
            for s in numbers
            for sentence in [shown[s].sentences[s]]
        ],
        "components": {each.report.task: _component_data(each, numbers) for each in analyses},
    }


def _component_data(analysis: Analysis, numbers: Mapping[int, int]) -> dict[str, Any]:
    totals = analysis.report.confusion
    pairs = dict.fromkeys((each.gold, each.predicted) for each in analysis.mistakes)
    return {
        "labels": {
            numbers[s]: [list(analysis.gold[s]), list(analysis.predicted[s])]
            for s in dict.fromkeys(each.sentence for each in analysis.mistakes)
        },
        "errors": [
            {
                "sentence": numbers[each.sentence],
                "token": each.token,
                "gold": each.gold,
                "predicted": each.predicted,
                "why": explanation_data(each.explanation.as_dict()),
            }
            for each in analysis.mistakes
        ],
        "totals": [[a, b, totals[a, b]] for a, b in pairs],
    }


def explanation_data(found: dict[str, Any], most: int = _EXPLANATION_ROWS) -> dict[str, Any]:
    """Return an explanation for a page: its first rows, and the sum of the others."""
    rows = [
        [_short(row["feature"], 2 * _SHOWN_CHARACTERS), row["label_weight"], row["rival_weight"]]
        for row in found["rows"]
    ]
    rest = rows[most:]
    return {
        "label": found["label"],
        "rival": found["rival"],
        "written_rival": found["written_rival"],
        "margin": found["margin"],
        "rows": rows[:most],
        "rest": [len(rest), sum(row[1] for row in rest), sum(row[2] for row in rest)],
    }


# ----------------------------------------------------------------- files of the package
def asset(name: str) -> str:
    """Return the text of a style sheet, script or page of a package.

    >>> asset("report/common.css").startswith("/*")
    True
    """
    return (_PACKAGE / name).read_text("utf-8")
