"""What there is to say of taggers and pipelines: lines for a terminal, tables for a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from seqtag.html_tables import folded, table
from seqtag.model.bundle import input_columns
from seqtag.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from seqtag.model.known_words import KnownWords
    from seqtag.model.model import Model
    from seqtag.tables.table import WordTable

_FORMS = {
    "normal": "normal (quotes, dashes, width and accents do not matter)",
    "written": "as written",
}


class _Described(Protocol):
    """The attributes of a `seqtag.tagging.tagger.Tagger` that a summary shows."""

    @property
    def model(self) -> Model: ...
    @property
    def first(self) -> Sequence[_Described]: ...
    @property
    def label(self) -> str: ...
    @property
    def labels(self) -> Sequence[str]: ...
    @property
    def columns(self) -> Sequence[str]: ...
    @property
    def known_words(self) -> KnownWords: ...
    @property
    def info(self) -> dict[str, Any]: ...
    @property
    def sizes(self) -> dict[str, int]: ...


def facts_of(tagger: _Described) -> list[tuple[str, str]]:
    """Names and values of what a person wants to know first.

    >>> import seqtag
    >>> dict(facts_of(seqtag.load("en-ewt-upos")))["label"]
    'upos (17 labels)'
    """
    info, sizes = tagger.info, tagger.sizes
    training = info["training"]
    cut_short = " (interrupted)" if training.get("interrupted") else ""
    facts = [
        ("made by", tagger.model.writer),
        ("label", f"{tagger.label} ({len(tagger.labels)} labels)"),
        ("columns", ", ".join(tagger.columns)),
        ("scheme", _scheme(info)),
        ("features", f"{sizes['features']:,} with {sizes['weights']:,} weights"),
        ("known words", f"{len(tagger.known_words):,}"),
        ("forms", _FORMS[info.get("forms", "written")]),
        ("trained on", _trained_on(tagger.model)),
        ("corpus", f"sha256 {training.get('corpus_sha256', '')[:16] or 'unknown'}..."),
        ("settings", _settings(training)),
        ("epochs kept", ", ".join(map(str, training.get("best_epochs", []))) + cut_short),
    ]
    if tagger.first:
        facts.append(("first pass", "; ".join(map(_text_of_first, tagger.first))))
    facts += [("table", text_of_table(table)) for table in tagger.model.tables]
    if "dev" in training:
        dev = training["dev"]
        score = f"{dev['metric']} {100 * dev['score']:.2f} ({dev['signature']})"
        facts.append(("dev score", score))
    chosen = training.get("chosen")
    if isinstance(chosen, dict) and chosen:
        tried = [name for name in ("templates", "known_labels") if name in chosen]
        facts.append(("chosen by trial", ", ".join(tried)))
    return facts


def text_of_table(table: WordTable) -> str:
    """What there is to say of a word table.

    >>> from seqtag.tables.table import WordTable
    >>> text_of_table(WordTable.of("names", [("Paris", ["city"])], origin={"source": "a list"}))
    'names (lexicon of 1 words by form, 1 values; source: a list)'
    """
    absent = [] if table.absent is None else [f"others: {table.absent}"]
    facts = [f"{key}: {value}" for key, value in table.origin.items()]
    what = f"{table.kind} of {len(table):,} words by {table.words}, {len(table.values):,} values"
    return f"{table.name} ({'; '.join([what, *absent, *facts])})"


def html_of_tagger(tagger: _Described) -> str:
    """A tagger as a table, with its templates folded up."""
    caption = f"seqtag.Tagger of {tagger.label}"
    shown = table([], facts_of(tagger), caption=caption)
    return shown + folded("templates", tagger.info["templates"])


def html_of_pipeline(models: Sequence[Model]) -> str:
    """Return the models of a pipeline as an HTML table."""
    rows = []
    for model in models:
        looks_at = ", ".join(input_columns(model))
        labels = f"{len(model.labels):,}"
        rows.append((model.column.name, labels, looks_at, _trained_on(model), model.writer))
    heading = ["part", "labels", "looks at", "trained on", "made by"]
    return table(heading, rows, caption="seqtag.Pipeline")


def _text_of_first(tagger: _Described) -> str:
    """What there is to say of a model of a first pass."""
    features = f"{tagger.sizes['features']:,} features"
    return f"{tagger.label} ({len(tagger.labels)} labels, {features})"


def _trained_on(model: Model) -> str:
    training = model.training
    found = f"{training.get('sentences', 0):,} sentences, {training.get('tokens', 0):,} tokens"
    shards = training.get("shards")
    if type(shards) is not int:
        return found
    return f"{found}, in {shards:,} shard{'s' * (shards != 1)}"


def _settings(training: Mapping[str, Any]) -> str:
    names = [*(setting.attribute for setting in SETTINGS.values()), "seed", "runs"]
    return ", ".join(f"{name} {training[name]}" for name in names if name in training)


def _scheme(info: Mapping[str, Any]) -> str:
    if not info["scheme"]:
        return "none"
    learned = f", learned as {info['encoding']}" if info["encoding"] != info["scheme"] else ""
    return f"{info['scheme']}{learned}, {'valid sequences only' if info['constrain'] else 'free'}"
