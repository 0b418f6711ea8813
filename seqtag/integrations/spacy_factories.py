"""Factories that spaCy finds by name, through entry points.

``nlp.add_pipe("seqtag")`` and ``@tokenizers = "seqtag.Tokenizer.v1"`` in a config file need no
import. spaCy imports this module whenever it starts, and so it imports nothing else until asked;
it reads the types of the functions, which therefore are no strings.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from spacy.language import Language
from spacy.util import registry


@Language.factory(
    "seqtag",
    assigns=[
        "token.tag",
        "token.pos",
        "token.morph",
        "token.lemma",
        "token.is_sent_start",
        "doc.ents",
        "doc.sents",
        "doc.spans",
    ],
    default_config={"model": None, "only": None, "spans": "auto"},
)
def create_component(
    nlp: Language, name: str, model: str | None, only: list[str] | None, spans: str
) -> Any:
    """Return the component for ``nlp.add_pipe("seqtag", config=...)``.

    Parameters
    ----------
    nlp, name
        Passed by spaCy.
    model, only, spans
        As for `seqtag.integrations.spacy.SeqtagComponent`. Without a model, the embedded one of the
        pipeline's language is used, if there is one.

    Examples
    --------
    >>> import spacy
    >>> nlp = spacy.blank("en")
    >>> component = nlp.add_pipe("seqtag", config={"only": ["upos"]})
    >>> [token.pos_ for token in nlp("The cats slept.")]
    ['DET', 'NOUN', 'VERB', 'PUNCT']
    """
    from seqtag.integrations.spacy import SeqtagComponent

    component = SeqtagComponent(name, only=only, spans=spans)
    _load(component, nlp, model, saved=name in _components_to_load(nlp))
    return component


@registry.tokenizers("seqtag.Tokenizer.v1")
def create_tokenizer(model: str | None = None) -> Callable[[Language], Any]:
    """Return a function that creates the tokenizer of a config section ``[nlp.tokenizer]``.

    Parameters
    ----------
    model
        As for `seqtag.integrations.spacy.SeqtagTokenizer`; by default the embedded one of the
        pipeline's language, if there is one.

    Examples
    --------
    >>> import spacy
    >>> tokenizer = {"@tokenizers": "seqtag.Tokenizer.v1", "model": "en"}
    >>> nlp = spacy.blank("en", config={"nlp": {"tokenizer": tokenizer}})
    >>> [token.text for token in nlp("It doesn't.")]
    ['It', 'does', "n't", '.']
    """

    def create(nlp: Language) -> Any:
        from seqtag.integrations.spacy import SeqtagTokenizer

        tokenizer = SeqtagTokenizer(nlp.vocab)
        _load(tokenizer, nlp, model, saved=bool(_components_to_load(nlp)))
        return tokenizer

    return create


def _load(owner: Any, nlp: Language, model: str | None, *, saved: bool) -> None:
    """Load a model, or that of the language, unless it was saved with the pipeline."""
    owner.language = nlp.lang
    if saved:
        return
    if model is not None:
        owner.load(model)
    else:
        with suppress(FileNotFoundError, IsADirectoryError):  # a folder may have that name
            owner.load(nlp.lang)


def _components_to_load(nlp: Language) -> Sequence[str]:
    """Return the names of the components that spaCy is about to load together with their models."""
    names: Sequence[str] = nlp._meta.get("components", ())
    return names
