"""What a shell may complete the words of a command line to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from collections.abc import Iterable

    import click

_FILES: CompletionItem = CompletionItem("", type="file")


def corpora_or_files(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Names of corpora, and files."""
    return [*_corpora(begun), _FILES]


def corpora(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Names of corpora; the parts of one whose name is complete, or the only one."""
    return _corpora(begun)


def models(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Names of the embedded models, and files."""
    from seqtag.model.embedded import embedded_models

    return [*_beginning(begun, embedded_models()), _FILES]


def templates(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Names of the presets, and files."""
    from seqtag.features.language import preset_names

    return [*_beginning(begun, [*preset_names(), "auto"]), _FILES]


def labels(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """The usual columns of labels; behind a comma those of a pipeline."""
    parts = ["tokens", "words", "upos", "xpos", "feats", "lemma"]
    done, comma, _last = begun.rpartition(",")
    if comma:
        return _beginning(begun, [f"{done},{part}" for part in parts if part not in done])
    return _beginning(begun, [*parts[2:], "upos+feats", "chunk", "ner", *parts[:2], "all"])


def _corpora(begun: str) -> list[CompletionItem]:
    from seqtag.catalogue.entries import entries

    name, slash, _part = begun.partition("/")
    fitting = [entry for entry in entries().values() if entry.name.startswith(begun)]
    chosen = entries().get(name) if slash else fitting[0] if len(fitting) == 1 else None
    parts = [f"{chosen.name}/{part}" for part in chosen.parts] if chosen else []
    return [*_beginning(begun, [entry.name for entry in fitting]), *_beginning(begun, parts)]


def _beginning(begun: str, names: Iterable[str]) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(begun)]
