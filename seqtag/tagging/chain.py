"""Models one after another, from open files to bytes: what ``seqtag tag`` does, for all who tag."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from seqtag.corpus import FORMATS, LIMITS, WRITABLE, ReadOptions, SentenceStream
from seqtag.corpus.conllu import COLUMNS as CONLLU
from seqtag.corpus.formats import joined
from seqtag.corpus.keys import has_column
from seqtag.errors import CorpusError, OptionError
from seqtag.segmentation.writing import ConlluWriter
from seqtag.tagging.pipeline import Pipeline
from seqtag.tagging.streams import Asked, Counts, tag_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seqtag.corpus.read import AnyStream
    from seqtag.tagging.pipeline import Loaded
    from seqtag.tagging.tagger import Tagger

TOKENIZERS = ("model", "nltk")
"""What may cut raw text."""

_LISTS = ("columns", "only")  # options that are several names


@dataclass(frozen=True)
class TagOptions:
    """How files are read, tagged and written: the options of ``seqtag tag``.

    Attributes
    ----------
    format
        Format of the input; ``auto`` looks at each file.
    columns
        Names of the columns of a column file.
    field
        Rows of tables: the field of texts or tokens; None for ``tokens``, or ``text``.
    to
        Format to write, or None for that of the input (CoNLL-U for raw text).
    only
        Parts of pipelines to run; None for all.
    paragraphs
        What ends a paragraph of raw text: ``blank``, ``line`` or ``auto``.
    tokenizer
        What cuts raw text: ``model``, if it has learnt to, or ``nltk``.
    token_ranges
        Whether MISC says where in the raw text each token stands.
    keep
        Whether labels stay that the input has; ``_`` is none.
    margin, probability, nbest
        What else is written: see `seqtag.tagging.streams.Asked`.
    max_sentence
        The longest sentence that is not refused, in tokens.

    Raises
    ------
    OptionError
        If there is no such tokenizer or format to write, or the options do not go together.

    Examples
    --------
    >>> TagOptions(only=["upos"]).as_json()["only"]
    ['upos']
    """

    format: str = "auto"
    columns: Sequence[str] | None = None
    field: str | None = None
    to: str | None = None
    only: Sequence[str] | None = None
    paragraphs: str = "auto"
    tokenizer: str = "model"
    token_ranges: bool = False
    keep: bool = False
    margin: bool = False
    probability: bool = False
    nbest: int = 1
    max_sentence: int = LIMITS.sentence

    @property
    def reading(self) -> ReadOptions:
        """The options for reading the input."""
        return ReadOptions(self.format, self.columns, LIMITS._replace(sentence=self.max_sentence))

    def __post_init__(self) -> None:
        for name in _LISTS:
            value = getattr(self, name)
            if value is not None:
                value = (value,) if isinstance(value, str) else tuple(value)
                object.__setattr__(self, name, value)
        for known, found in ((WRITABLE, self.to), (TOKENIZERS, self.tokenizer)):
            if found is not None and found not in known:
                msg = f"expected one of {', '.join(known)}, found {found!r}"
                raise OptionError(msg)
        if self.asked().columns and self.to is not None and not FORMATS[self.to].has_room:
            msg = (
                "expected --to conllu or columns with --margin, --probability and --nbest, found "
                f"{self.to}; it has no place for them"
            )
            raise OptionError(msg)

    def asked(self, *, named: bool = False) -> Asked:
        """What is asked of the taggers beside the best labels."""
        return Asked(self.keep, self.margin, self.probability, self.nbest, named)

    def as_json(self) -> dict[str, Any]:
        """The options as JSON has them."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}


class Chain:
    """Models, one after another.

    Parameters
    ----------
    loaded
        What their files hold.
    only
        Parts of pipelines to run; None for all.

    Attributes
    ----------
    taggers : list of Tagger
        All taggers, in the order in which they run.

    Raises
    ------
    OptionError
        If parts are named and there is no pipeline.
    SeqtagError
        If a pipeline has no such part.
    """

    def __init__(self, loaded: Sequence[Loaded], only: Sequence[str] | None = None):
        pipelines = [each for each in loaded if isinstance(each, Pipeline)]
        if only:
            if not pipelines:
                msg = "expected a pipeline of several models for --only, found single ones"
                raise OptionError(msg)
            chosen = {id(pipeline): pipeline.only(*only) for pipeline in pipelines}
            loaded = [chosen.get(id(each), each) for each in loaded]
            pipelines = list(chosen.values())
        self.cutter = next((each for each in pipelines if each.segmenter), None)
        self.taggers: list[Tagger] = []
        for each in loaded:
            self.taggers += each.taggers if isinstance(each, Pipeline) else [each]

    @property
    def columns(self) -> list[str]:
        """Names of the columns that the taggers fill and that are written."""
        return [name for tagger in self.shown for name in tagger.label_columns]

    @property
    def shown(self) -> list[Tagger]:
        """The taggers whose labels are written."""
        return [tagger for tagger in self.taggers if not tagger.hidden]

    @property
    def cuts(self) -> bool:
        """Whether there is a model that cuts raw text."""
        return self.cutter is not None

    def cut(
        self,
        streams: Sequence[SentenceStream],
        *,
        tokenizer: str,
        paragraphs: str,
        flush: bool | None,
        token_ranges: bool,
        continues: bool = False,
    ) -> list[AnyStream]:
        """The streams with raw text cut by the model, if one has learnt to and may.

        With `continues` it goes on behind a paragraph of the same document.

        Raises
        ------
        OptionError
            If ranges of tokens are wanted and no text is cut so.
        """
        cutter = self.cutter if tokenizer == "model" else None
        is_cut = cutter is not None and any(stream.is_raw for stream in streams)
        if token_ranges and not is_cut:
            msg = (
                "expected raw text and a pipeline that cuts it for --token-ranges, found text that "
                "is cut otherwise; leave one out"
            )
            raise OptionError(msg)
        if cutter is None:
            return list(streams)
        writer = ConlluWriter(token_ranges=token_ranges)
        return [
            cutter.segmented(
                stream, paragraphs=paragraphs, flush=flush, writer=writer, continues=continues
            )
            if stream.is_raw
            else stream
            for stream in streams
        ]

    def tagged(
        self,
        streams: Sequence[SentenceStream],
        options: TagOptions,
        threads: int = 1,
        *,
        flush: bool | None = None,
        counts: Counts | None = None,
        continues: bool = False,
    ) -> Iterator[bytes]:
        r"""What some open files are written as, piece by piece, one file behind the other.

        Parameters
        ----------
        streams
            What `seqtag.read` returns.
        options
            How to tag and to write; those of reading are done with.
        threads, flush
            As `seqtag.tagging.streams.tag_text` takes them.
        counts
            Where to count.
        continues
            Whether raw text goes on behind a paragraph of the same document.

        Raises
        ------
        OptionError
            As `cut`.
        CorpusError
            If the files have different formats and none is asked for.

        Examples
        --------
        >>> import io, seqtag
        >>> chain = Chain([seqtag.load("en")], only=["upos"])
        >>> stream = seqtag.read(io.BytesIO(b"It works.\n"), "text")
        >>> b"".join(chain.tagged([stream], TagOptions(to="tagged")))
        b'It/PRON works/VERB ./PUNCT\n'
        """
        cut = self.cut(
            streams,
            tokenizer=options.tokenizer,
            paragraphs=options.paragraphs,
            flush=flush,
            token_ranges=options.token_ranges,
            continues=continues,
        )
        asked = options.asked(named=len(self.shown) > 1)
        to = options.to or _format_of(cut, self.columns)
        if asked.columns and to is None and cut[0].columns == CONLLU:
            to = "conllu"  # with the new columns in MISC
        pieces = (
            piece
            for stream in cut
            for piece in tag_text(
                self.taggers, stream, to, threads, flush=flush, asked=asked, counts=counts
            )
        )
        return joined(pieces, to)


def _format_of(streams: Sequence[AnyStream], labels: Sequence[str]) -> str | None:
    """The format to write if none is asked for; None for that of the input.

    Raises
    ------
    CorpusError
        If the inputs have different ones.
    """
    with_labels = [stream for stream in streams if stream.columns != ("form",)]
    for stream in with_labels[1:]:
        if stream.format != (first := with_labels[0]).format:
            msg = (
                f"expected the format {first.format} of {first.source}, found {stream.format}; "
                "tag the files one by one, or choose the format of the output with --to"
            )
            raise CorpusError(msg, source=stream.source)
    if not FORMATS[streams[0].format].in_place:
        fits = all(has_column(name, (*CONLLU, "pos")) for name in labels)
        return "conllu" if fits else "columns"
    fits = all(has_column(name, CONLLU) for name in labels)
    if not isinstance(streams[0], SentenceStream) and not fits:
        return "conllu"  # with what it has no column for in MISC
    return None
