"""Raw text as a stream of CoNLL-U: segmented, split into words, ready to be tagged.

White space is written by UDPipe's convention: a single space after a token is the default,
``SpaceAfter=No`` means none, ``SpacesAfter`` any other; ``SpacesBefore`` is what precedes the first
token, ``SpacesInToken`` a token with white space inside. Each character of the text can be
restored.
"""

from __future__ import annotations

import logging
import re
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, pairwise
from threading import Semaphore
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from seqtag.corpus import UNLIMITED, Block, Layout, ReadLimits, Sentence, SentenceStream
from seqtag.corpus.conllu import COLUMNS, ConlluReader, ConlluSentence
from seqtag.corpus.lines import with_marks_as_spaces
from seqtag.corpus.stream import ByteStream, TextBytes
from seqtag.corpus.surface import escape_spaces
from seqtag.engine import backend
from seqtag.engine.arrays import pointers
from seqtag.parallel import in_order
from seqtag.segmentation.paragraphs import SEPARATOR, Marker, check_mode, find_mode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from seqtag.engine.interface import Comments, WordRows, WordScanner
    from seqtag.segmentation.multiword import Splitter
    from seqtag.segmentation.rules import RuleSegmenter
    from seqtag.segmentation.segmenter import Segmenter

    Positions = NDArray[np.int64]

_BLOCK_CHARACTERS = 1 << 18  # of text that is segmented at a time
_LONGEST_SENTENCE = 1 << 16  # characters; longer ones are cut, to limit memory of taggers
_MARGIN_CHARACTERS = 200  # that a cut leaves after it

_MARK = "\ufeff"  # byte order mark: white space, wherever it is
_PARAGRAPH = "# newpar\n"
_OPENING = "# newdoc\n" + _PARAGRAPH

_NOTES = {
    "blank": "%s: paragraphs are separated by blank lines (%s); if each line is a paragraph, use "
    'paragraphs="line"',
    "line": "%s: each line is read as a paragraph (%s); if its lines are wrapped, use "
    'paragraphs="blank"',
}

_CUT = re.compile(r"-(?<=[^\W\d_]-)\r?\n(?=[ \t]*[a-z\u00df-\u00ff])")
_DECODED_TWICE = re.compile(
    "[\u00c2\u00c3\u00d0\u00d1][\u0080-\u00bf\u0152-\u0178\u02c6\u02dc\u2018-\u203a]|\u00e2\u20ac"
)
_DAMAGES = (
    (
        _CUT,
        "cut words at line ends",
        r"join them, for example with perl -CSD -0pe 's/(?<=\w)-\n//g'",
    ),
    (_DECODED_TWICE, "characters of UTF-8 decoded as Windows-1252", "restore them with ftfy FILE"),
)
_DAMAGED_SHARE = 0.02  # least number of them, as a share of the lines

_log = logging.getLogger("seqtag")


class _Conllu(SentenceStream):
    """CoNLL-U without annotation."""

    is_segmented = True

    def __init__(self, stream: ByteStream):
        super().__init__(stream, Layout("conllu", COLUMNS, "\t"))

    def _read(self) -> Iterator[Sentence]:
        return self.parse(self.blocks())

    def parse(self, blocks: Iterable[Block], line: int = 1) -> Iterator[Sentence]:
        """Yield the sentences of some blocks, the first of which starts at `line`."""
        return _Reader(self.source).read(blocks, line)

    def _detected(self, text: str) -> Marker:
        """Return the marker of the paragraphs of a text, given its beginning."""
        found = find_mode(with_marks_as_spaces(text))
        if found.evidence:
            _log.info(_NOTES[found.mode], self.source, found.evidence)
        for pattern, what, remedy in _DAMAGES if "\n" in text or not text.isascii() else ():
            places = [match.start() for match in pattern.finditer(text)]
            if len(places) > max(1, _DAMAGED_SHARE * text.count("\n")):
                line = 1 + text.count("\n", 0, places[0])
                note = "%s:%d: %d %s in the sample, the first here; %s"
                _log.warning(note, self.source, line, len(places), what, remedy)
        return Marker(found.mode, found.short)

    @property
    def is_bare(self) -> bool:
        """True if its blocks can be scanned for words before they are written."""
        return True

    @property
    def limits(self) -> ReadLimits:
        """No limits: long sentences are cut."""
        return UNLIMITED


class SegmentedTexts(_Conllu):
    r"""Short texts as CoNLL-U without annotation, each a document by itself.

    Those of a batch are segmented at once, as paragraphs, which do not depend on each other. The
    result is that of a `SegmentedText` for each text. Threads may share it.

    Parameters
    ----------
    segmenter, splitter
        As for `SegmentedText`.
    """

    MOST_CHARACTERS = 1 << 14  # so that the mode of paragraphs is found from the complete text

    def __init__(self, segmenter: Segmenter | RuleSegmenter, splitter: Splitter | None = None):
        super().__init__(ByteStream(TextBytes()))
        self.source = "<texts>"
        self._segmenter, self._splitter, self._writer = segmenter, splitter, ConlluWriter()

    def block(self, given: Sequence[str], paragraphs: str = "auto") -> SegmentedBlock | None:
        """Return all sentences of some texts as one block; None if there is no sentence.

        Parameters
        ----------
        given
            The texts, each of at most `MOST_CHARACTERS`.
        paragraphs
            As for `SegmentedText`.
        """
        marked = []
        for text in given:
            marker = self._detected(text) if paragraphs == "auto" else Marker(paragraphs)
            marked.append(marker.mark(with_marks_as_spaces(text), final=True))
        joined = SEPARATOR.join(marked)
        starts, ends, bounds = self._segmenter.segment(joined)
        if not len(bounds):
            return None
        begins, stops = starts.tolist(), ends.tolist()
        texts: list[str] = []  # from the first token of each text on
        firsts: list[int] = []  # the first token of each text
        moved: list[int] = []  # and where it goes, less where it is
        numbers: list[int] = []
        opens: dict[int, str] = {}
        before: dict[int, str] = {}
        length, current, end = 0, -1, 0
        for sentence, first in enumerate([0, *bounds[:-1].tolist()]):
            at = begins[first]
            if at < end:
                numbers.append(numbers[-1] + 1)
                if SEPARATOR in joined[stops[first - 1] : at]:
                    opens[sentence] = _PARAGRAPH
                continue
            while at >= end:
                offset, current = end, current + 1
                end += len(marked[current]) + 1
            numbers.append(1)
            opens[sentence] = _OPENING
            text = given[current]
            if at > offset:
                before[sentence] = text[: at - offset]
            texts.append(text[at - offset :])
            firsts.append(first)
            moved.append(length - at)
            length += len(texts[-1])
        by = np.repeat(moved, [b - a for a, b in pairwise([*firsts, len(begins)])])
        whole, starts, ends = "".join(texts), starts + by, ends + by
        places = starts, ends, bounds
        words = self._splitter.split(whole, *places) if self._splitter else {}
        return SegmentedBlock(
            self._writer, whole, *places, words, opens, before, numbers=np.array(numbers)
        )


def has_tokens(text: str) -> bool:
    """Return whether a text is more than white space, so that its CoNLL-U is not empty."""
    return bool(with_marks_as_spaces(text).strip())


def split_documents(conllu: str) -> list[str]:
    r"""Return the CoNLL-U of each of `SegmentedTexts` that has tokens.

    >>> split_documents("# newdoc\n1\tGo\n\n# newdoc\n1\tStop\n\n")
    ['# newdoc\n1\tGo\n\n', '# newdoc\n1\tStop\n\n']
    """
    opening = "# newdoc\n"
    bodies = conllu.removeprefix(opening).removesuffix("\n\n").split("\n\n" + opening)
    return [f"{opening}{body}\n\n" for body in bodies] if conllu else []


class SegmentedText(_Conllu):
    r"""Raw text as CoNLL-U without annotation.

    Each sentence has its number and text, and ``# newpar`` at the start of a paragraph. MISC has
    the white space, so that the text can be rebuilt character by character (except text of white
    space only, which has no sentence). Memory use is constant: a sentence is yielded as soon as
    later text cannot change it.

    Parameters
    ----------
    stream
        An open text.
    segmenter
        Finds tokens and sentences.
    splitter
        Finds the words of multiword tokens; None if there are none.
    paragraphs
        End of paragraphs: ``blank`` for a blank line, ``line`` for a line break, or ``auto``; see
        `seqtag.segmentation.paragraphs.find_mode`.
    flush
        Whether sentences are yielded one by one, and not in large blocks.
    writer
        Writes the sentences; those of several texts with one writer are numbered through.
    threads
        Threads to segment on; the result is the same.
    presegmented
        Whether each line is one sentence, and only tokens are searched for; blank lines end
        paragraphs.
    document
        Name of the document, such as that of its file.

    Raises
    ------
    CorpusError
        If there are no such paragraphs.
    """

    def __init__(
        self,
        stream: SentenceStream,
        segmenter: Segmenter | RuleSegmenter,
        splitter: Splitter | None = None,
        *,
        paragraphs: str = "auto",
        flush: bool | None = None,
        writer: ConlluWriter | None = None,
        threads: int = 1,
        presegmented: bool = False,
        document: str = "",
    ):
        super().__init__(stream.file)
        self._opening = f"# newdoc id = {document}\n{_PARAGRAPH}" if document else _OPENING
        self._segmenter, self._splitter = segmenter, splitter
        self._mode, self._threads = "line" if presegmented else check_mode(paragraphs), threads
        self._presegmented = presegmented
        self._writer = writer or ConlluWriter()
        # Two threads take turns, so that the segmenter sums the weights of a word once for both.
        self._turns = Semaphore((threads + 1) // 2)
        self._ready: Callable[[], bool] = (
            stream.file.ready if flush is None else (lambda: not flush)
        )

    def blocks(self) -> Iterator[Block]:
        """Yield the sentences as text, in blocks."""
        line = 1
        for block in in_order(_run, self.block_tasks(), self._threads, self._ready):
            text = block.after(self.count(len(block.sentence_ends))).text
            yield Block(text, line)
            line += text.count("\n")

    @property
    def is_bare(self) -> bool:
        """True if its blocks can be scanned for words before they are written."""
        return self._writer.is_default

    def block_tasks(self) -> Iterator[Callable[[], SegmentedBlock]]:
        """Yield functions that make the blocks, numbering their sentences from 1.

        Any thread may call them; each line is counted from the beginning of its block.
        """
        is_auto = self._mode == "auto"
        marker = self._detected(self.file.text_head()) if is_auto else Marker(self._mode)
        for piece in self._pieces(marker):
            yield partial(self._block, *piece)

    def count(self, sentences: int) -> int:
        """Count the sentences of the next block, and return the number of those before it."""
        self._writer.number += sentences
        return self._writer.number - sentences

    # ----------------------------------------------------------------- text to CoNLL-U
    def _pieces(self, marker: Marker) -> Iterator[tuple[_Window, _Found | None]]:
        """Yield the text in pieces, in order, with their sentences where these are known.

        Most pieces are complete paragraphs, which do not depend on each other.
        """
        window = _Window(marker)
        for piece in self.pieces():
            for at in range(0, len(piece), _BLOCK_CHARACTERS):
                part = piece[at : at + _BLOCK_CHARACTERS]
                window.add(part)
                waits = at + _BLOCK_CHARACTERS >= len(piece) and not self._ready()
                if not waits and (len(window) < _BLOCK_CHARACTERS or part.isspace()):
                    continue
                paragraphs = None if waits else window.take_paragraphs()
                if paragraphs is not None:
                    yield paragraphs, None
                elif len((found := self._find(window, waits=waits)).bounds):
                    context = self._segmenter.context_of(window.text, found.end)
                    yield window.take(found.end, int(found.ends[-1]), context), found
        window.add("", final=True)
        if window.text[window.begin :].strip():
            yield window, None

    def _block(self, window: _Window, found: _Found | None) -> SegmentedBlock:
        """Return the sentences of a piece, which may be known."""
        if found is None:
            with self._turns:
                found = self._find(window, final=True)
        starts, ends, bounds, end = found
        separators = 1  # that end a paragraph
        if self._presegmented:
            separators = 2  # a line break, and that of a blank line
            gaps = (window.text[ends[at - 1] : starts[at]] for at in bounds[:-1].tolist())
            is_last = [SEPARATOR in gap for gap in gaps]
            bounds = self._shortened(starts, ends, bounds[[*is_last, True]])
        words = (
            self._splitter.split(window.original, starts, ends, bounds) if self._splitter else {}
        )
        opens = {}
        firsts = np.append(0, bounds[:-1])
        last_ends = np.append(window.last_end, ends[firsts[1:] - 1]).tolist()
        for number, start in enumerate(starts[firsts].tolist()):
            if window.text.count(SEPARATOR, last_ends[number], start) >= separators:
                opens[number] = _PARAGRAPH
        if not window.opened:
            opens[0] = self._opening
        return SegmentedBlock(
            self._writer,
            window.original[:end],
            starts,
            ends,
            bounds,
            words,
            opens,
            {0: window.original[window.begin : starts[0]]},
            window.offset,
        )

    def _find(self, window: _Window, *, waits: bool = False, final: bool = False) -> _Found:
        """Return the sentences that later text cannot change.

        More white space may follow a sentence, so it is held back unless a reader `waits` for it;
        white space that follows then precedes the next token.
        """
        text, begin = window.text, window.begin
        is_endless = len(window) > _LONGEST_SENTENCE + _MARGIN_CHARACTERS
        starts, ends, bounds = self._segmenter.segment(text, begin=begin, final=final)
        if len(bounds):
            bounds = self._shortened(starts, ends, bounds)
        elif (final or is_endless) and text[begin:].strip():
            starts, ends, bounds = self._segmenter.segment(text, begin=begin)
            if not len(bounds):  # marks, and the letter that they are on was cut off
                starts, ends, bounds = self._segmenter.segment(text[begin:])
                starts, ends = starts + begin, ends + begin
            bounds = self._shortened(starts, ends, bounds)
            certain = bounds[ends[bounds - 1] <= len(text) - _MARGIN_CHARACTERS]
            bounds, waits = (certain if len(certain) else bounds), True  # or a token is cut
        if len(bounds) and not (waits or final) and not text[ends[-1] :].strip():
            bounds = bounds[:-1]
        if not len(bounds):
            return _Found(starts[:0], ends[:0], bounds, begin)
        last = int(bounds[-1])
        rest = text[int(ends[last - 1]) :]
        end = len(text) - len(rest.lstrip())
        return _Found(starts[:last], ends[:last], bounds, end)

    def _shortened(
        self, starts: NDArray[np.int64], ends: NDArray[np.int64], bounds: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the ends of sentences, with more where one is too long for the taggers."""
        firsts = np.append(0, bounds[:-1])
        too_long = np.flatnonzero(ends[bounds - 1] - starts[firsts] > _LONGEST_SENTENCE)
        cuts = []
        for sentence in too_long.tolist():
            at, last = int(firsts[sentence]), int(bounds[sentence])
            while ends[last - 1] - starts[at] > _LONGEST_SENTENCE and at + 1 < last:
                fitting = int(np.searchsorted(ends, starts[at] + _LONGEST_SENTENCE, "right"))
                at = max(fitting, at + 1)
                cuts.append(at)
        if not cuts:
            return bounds
        most = f"{_LONGEST_SENTENCE:,}"
        _log.warning("%s: a sentence of more than %s characters was cut", self.source, most)
        return np.union1d(bounds, np.array(cuts, np.int64))


def _run(task: Callable[[], SegmentedBlock]) -> SegmentedBlock:
    return task()


@dataclass(frozen=True)
class SegmentedBlock(Block):
    """Sentences of raw text; its CoNLL-U is written when asked for.

    Attributes
    ----------
    writer
        Writes the CoNLL-U.
    original
        The text; only white space follows the last token.
    starts, ends
        Where its tokens begin and end, in characters; none is empty.
    sentence_ends
        Number of tokens up to the end of each sentence; none is empty.
    words
        The words of multiword tokens, by the number of the token, in order.
    opens
        Comments before the sentences of these numbers.
    before
        White space before the first token of a text, by the number of its first sentence.
    offset
        Characters of the text before this part of it.
    numbers
        The number in the comment of each sentence; from 1 by default.
    """

    writer: ConlluWriter
    original: str
    starts: Positions
    ends: Positions
    sentence_ends: Positions
    words: Mapping[int, Sequence[str]] = field(default_factory=dict)
    opens: Mapping[int, str] = field(default_factory=dict)
    before: Mapping[int, str] = field(default_factory=dict)
    offset: int = 0
    numbers: Positions | None = None

    def after(self, sentences: int) -> SegmentedBlock:
        """Return the block with sentences numbered from those before it, if it has no numbers."""
        if self.numbers is not None:
            return self
        last = sentences + len(self.sentence_ends)
        return replace(self, numbers=np.arange(sentences + 1, last + 1, dtype=np.int64))

    @property
    def text(self) -> str:
        """The CoNLL-U."""
        return self.writer.write(self.after(0))

    def scan_words(self, scanner: WordScanner) -> WordRows:
        """Return the words of its tokens."""
        parts = [each.encode("utf-8", "surrogatepass") for each in chain(*self.words.values())]
        return scanner.scan_tokens(
            self.original.encode("utf-8", "surrogatepass"),
            self.starts,
            self.ends,
            self.sentence_ends,
            np.array([*self.words], np.int64),
            pointers(map(len, self.words.values())),
            parts,
        )

    def comments(self, before: int) -> Comments:
        """Return the numbers of its sentences, and comments and white space before some."""
        opens, spaces = (
            [(number, text.encode()) for number, text in each.items()]
            for each in (self.opens, self.before)
        )
        return self.after(before).numbers, opens, spaces


class _BareSentence(ConlluSentence):
    """Sentence of CoNLL-U without annotation."""

    __slots__ = ()

    is_bare = True


class _Reader(ConlluReader):
    """Reader of the CoNLL-U that was written here."""

    sentence_type = _BareSentence


class _Found(NamedTuple):
    """Starts and ends of tokens, their number up to the end of each sentence, and the end of all.

    The end includes the white space that follows.
    """

    starts: Positions
    ends: Positions
    bounds: Positions
    end: int


class _Window:
    """Part of a text that has arrived and is not final, with a little context before it.

    Attributes
    ----------
    text, original
        The part with the ends of paragraphs marked, and unmarked. `text` is shorter while the
        last marks are not certain.
    begin
        Start of the text that was not yielded yet.
    last_end
        End of the last token that was yielded.
    offset
        Characters of the text before the part.
    opened
        Whether anything was yielded.
    """

    def __init__(self, marker: Marker):
        self.text, self.original = "", ""
        self.begin = self.last_end = self.offset = 0
        self.opened = False
        self._marker = marker

    def __len__(self) -> int:
        """Return the number of characters that are not final."""
        return len(self.text) - self.begin

    def add(self, piece: str, *, final: bool = False) -> None:
        """Add more of the text."""
        self.original += piece
        self.text += self._marker.mark(with_marks_as_spaces(piece), final=final)

    def take(self, end: int, last_end: int, context: int) -> _Window:
        """Return the window as it is, and continue at `end`, with the context from `context` on.

        The last token before `end` ends at `last_end`.
        """
        taken = copy(self)
        kept = min(context, last_end)
        self.text, self.original = self.text[kept:], self.original[kept:]
        self.offset += kept
        self.begin, self.last_end = end - kept, last_end - kept
        self.opened = True
        return taken

    def take_paragraphs(self) -> _Window | None:
        """Return the paragraphs that are complete, and continue after them; None if none are."""
        text = self.text
        at = text.rfind(SEPARATOR, self.begin, len(text.rstrip()))
        if at < 0 or not text[self.begin : at].strip():
            return None
        end = len(text) - len(text[at:].lstrip())
        last_end = len(text[:at].rstrip())
        taken = self.take(end, last_end, last_end)
        taken.text, taken.original = taken.text[:end], taken.original[:end]
        return taken


_OTHER_SPACE = re.compile(r"[^\S \u00a0\u2000-\u200a\u202f\u205f\u3000]|\s{2}|\ufeff")
_BLANKS = "\t_" * 7
_MOST_SPACES = 1000  # kinds of white space remembered


class ConlluWriter:
    r"""Writer of sentences, numbered from 1.

    Parameters
    ----------
    token_ranges
        Whether MISC has the positions of each token in the text, in characters.
    normalized_spaces
        Whether MISC has ``SpaceAfter=No`` only, and no other white space.

    Attributes
    ----------
    number : int
        Number of sentences written into earlier blocks, which the stream counts.

    Examples
    --------
    >>> tokens = np.array([0, 5]), np.array([4, 6])
    >>> block = SegmentedBlock(ConlluWriter(), "Stop !\n", *tokens, np.array([2]))
    >>> print(block.text.replace("\t", " "), end="")
    # sent_id = 1
    # text = Stop !
    1 Stop _ _ _ _ _ _ _ _
    2 ! _ _ _ _ _ _ _ SpacesAfter=\n
    <BLANKLINE>
    """

    def __init__(self, *, token_ranges: bool = False, normalized_spaces: bool = False):
        self._has_ranges, self._normalized = token_ranges, normalized_spaces
        self.number = 0
        self._misc: dict[str, str] = {" ": "_", "": "SpaceAfter=No"}  # by the white space after

    @property
    def is_default(self) -> bool:
        """True if MISC has all white space, and no positions."""
        return not (self._has_ranges or self._normalized)

    def write(self, block: SegmentedBlock) -> str:
        """Return the sentences of a block, which have numbers, as CoNLL-U."""
        if backend.WordScanner is not None and self.is_default:
            rows = block.scan_words(backend.WordScanner())
            return rows.conllu([], [], *block.comments(0)).decode("utf-8", "surrogatepass")
        text, starts, ends = block.original, block.starts, block.ends
        numbers = block.numbers.tolist() if block.numbers is not None else []
        done = []
        bounds = [0, *block.sentence_ends.tolist()]
        for number, (first, last) in enumerate(pairwise(bounds)):
            done.append(block.opens.get(number, ""))
            follows = [*starts[first + 1 : last + 1].tolist(), len(text)]
            spans = zip(
                starts[first:last].tolist(), ends[first:last].tolist(), follows, strict=False
            )
            tokens = [_Token(text[a:b], text[b:c], (a, b)) for a, b, c in spans]
            spaces = block.before.get(number, "")
            several = {i - first: block.words[i] for i in range(first, last) if i in block.words}
            done.append(self._written(numbers[number], tokens, several, spaces, block.offset))
        return "".join(done)

    def _written(
        self,
        number: int,
        tokens: Sequence[_Token],
        words: Mapping[int, Sequence[str]],
        before: str,
        offset: int,
    ) -> str:
        """Return a sentence as CoNLL-U, without the kernel."""
        forms, miscs = [], []
        shown = ""
        for place, (form, spaces, (start, end)) in enumerate(tokens):
            misc = self._misc.get(spaces)
            if misc is None:
                misc = "_" if self._normalized else f"SpacesAfter={escape_spaces(spaces)}"
                if len(self._misc) < _MOST_SPACES:
                    self._misc[spaces] = misc
            items = [misc]
            if self._has_ranges:
                items.append(f"TokenRange={start + offset}:{end + offset}")
            if before and not place and not self._normalized:
                items.insert(0, f"SpacesBefore={escape_spaces(before)}")
            if _OTHER_SPACE.search(form):
                if not self._normalized:
                    items.insert(0, f"SpacesInToken={escape_spaces(form)}")
                form = " ".join(form.replace(_MARK, " ").split())
            forms.append(form)
            miscs.append("|".join(item for item in items if item != "_") or "_")
            shown += f"{form} " if spaces else form
        rows = [f"# sent_id = {number}\n# text = {shown.removesuffix(' ')}\n"]
        word = 1
        for token, (form, misc) in enumerate(zip(forms, miscs, strict=True)):
            parts = words.get(token)
            if parts is None:
                rows.append(f"{word}\t{form}{_BLANKS}\t{misc}\n")
                word += 1
                continue
            rows.append(f"{word}-{word + len(parts) - 1}\t{form}{_BLANKS}\t{misc}\n")
            for part in parts:
                rows.append(f"{word}\t{part}{_BLANKS}\t_\n")
                word += 1
        return "".join([*rows, "\n"])


class _Token(NamedTuple):
    """Token, its position, and the white space after it."""

    form: str
    spaces: str
    place: tuple[int, int]
