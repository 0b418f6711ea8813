"""Training data of the components that read text: token boundaries and multiword tokens.

Both are made of a treebank. The component tokens labels each character of the text; the component
words labels each character of a token with the script that makes the words.
"""

from __future__ import annotations

import logging
import re
from collections import Counter, defaultdict
from functools import lru_cache
from itertools import chain, pairwise, repeat
from math import log2
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import category

import numpy as np

from seqtag.corpus.surface import paragraphs_of, surface_of
from seqtag.errors import CorpusError
from seqtag.features.encoder import Column
from seqtag.features.normal_forms import normal_form
from seqtag.labels.coding import has_controls
from seqtag.segmentation.characters import Numbering, candidate_of, views_of
from seqtag.segmentation.multiword import (
    COPY,
    END,
    MOST_TOKEN_CHARACTERS,
    NOTHING,
    TAGGED,
    InContext,
    SplitScript,
    Symbol,
    Words,
    in_context,
    is_upper,
    letter_columns,
    letters_of,
)
from seqtag.segmentation.paragraphs import SEPARATOR
from seqtag.segmentation.segmenter import INSIDE, JOINED, SENTENCE, TOKEN
from seqtag.segmentation.unpunctuated import LONGEST_WORD
from seqtag.segmentation.word_parts import (
    PARTS,
    PartCounts,
    find_in,
    folded,
    part_columns,
    part_rows,
)
from seqtag.tables.table import WordTable, text_columns
from seqtag.training.data import TrainingData

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from seqtag.corpus import Sentence
    from seqtag.segmentation.characters import CharacterRows
    from seqtag.segmentation.word_parts import Find

WORDS = "training-words"
"""Name of the table of the words of the training data."""

_FOLDS = 5
_LEAST_UNSEPARATED = 0.05  # of the tokens: those with a space inside, or with none between words

_LABELS = (INSIDE, JOINED, TOKEN, SENTENCE)
_PIECE_CHARACTERS = 16  # learned from at a time
_ALL_SPACED = (
    "tokens: white space follows every token of the treebank, so that what it separates will be "
    "tokens, words and punctuation together; where there is none, MISC should have SpaceAfter=No"
)
_F1_OF_MARKS = 0.8  # of breaks after marks, from which on characters are learned

_MOST_SYMBOLS = 5  # of one script, in addition to the length difference of words and token
_MOST_CELLS = 4000  # characters times symbols of a token that is aligned
_ROUNDS = 4  # of choosing scripts by their frequency in the last round,
_SAMPLED_TOKENS = 500  # for this many multiword tokens or up to twice as many, then once for all
_LEAST_SHARE = 0.05  # of a token's occurrences; a rarer reading is taken for an annotation error
_UNSEEN_COUNT = 0.1  # of a script that was not chosen yet

Pair = tuple[str, Words]
"""A multiword token and its words."""

_log = logging.getLogger("seqtag")


# --------------------------------------------------------------------------- tokens
class TreebankText(NamedTuple):
    """Text of a treebank, and where its tokens and sentences end, in code points.

    It is put together from the tokens and the white space after them, paragraph by paragraph; a
    treebank that marks none is one. A range is one token.
    """

    text: str
    token_ends: NDArray[np.int64]
    sentence_ends: NDArray[np.int64]

    @classmethod
    def of(cls, sentences: Iterable[Sentence]) -> TreebankText:
        """Return the text of the sentences of a treebank, in order."""
        text: list[str] = []
        token_ends: list[int] = []
        sentence_ends: list[int] = []
        length = 0
        for paragraph in paragraphs_of(sentences):
            for surface in paragraph:
                for token in surface.tokens:
                    before = (token.spaces_before + token.written).replace(SEPARATOR, " ")
                    after = token.spaces_after.replace(SEPARATOR, " ")
                    token_ends.append(length + len(before))
                    text += before, after
                    length += len(before) + len(after)
                sentence_ends.append(token_ends[-1])
            text.append(SEPARATOR)
            length += 1
        return cls("".join(text), np.array(token_ends, np.int64), np.array(sentence_ends, np.int64))

    @property
    def tokens(self) -> list[str]:
        """The tokens as candidate words are looked up."""
        form_of: dict[str, str] = {}
        found = []
        for begin, end in pairwise([0, *self.token_ends.tolist()]):
            token = self.text[begin:end].strip()
            if token not in form_of:
                form_of[token] = candidate_of(token)
            found.append(form_of[token])
        return found


def token_examples(
    treebank: TreebankText,
    columns: Sequence[str],
    tables: Mapping[str, WordTable] | None = None,
    *,
    jackknifed: bool = True,
) -> TrainingData:
    r"""Return the characters of a treebank, and where tokens and sentences end.

    Where a token ends within a character (between a letter and its mark), it is taken to end with
    it. If white space follows each token of a treebank, only that is learned, and a warning is
    logged.

    Parameters
    ----------
    treebank
        The text of its sentences.
    columns
        Some of `seqtag.segmentation.characters.COLUMNS`, or columns for the words of `tables`;
        or ``form`` alone for the words that white space separates, and where sentences end.
    tables
        Word tables by name.
    jackknifed
        Whether `WORDS` is the table of this treebank. If so, the words of a fold of its sentences
        are looked up in a table of the other folds: those that are nowhere else are not in it, as
        new words of a new text.

    Returns
    -------
    TrainingData
        Paragraphs of characters or words, learned in small pieces: each label is decided
        independently, given what is around it.

    Examples
    --------
    >>> import io
    >>> from seqtag.corpus import read
    >>> rows = ["1\tOh", "2\t!", "3\tNo", "4\t!"]
    >>> text = "".join(row + "\t_" * 7 + "\tSpaceAfter=No\n" for row in rows)
    >>> treebank = TreebankText.of(read(io.BytesIO(text.encode()), "conllu"))
    >>> examples = token_examples(treebank, ["c1"])
    >>> examples.labels.values()
    ['inside', 'token', 'token', 'inside', 'token', 'sentence']
    """
    if [*columns] == ["form"]:
        _log.warning(_ALL_SPACED)
        return _break_examples(treebank)
    text, token_ends, sentence_ends = treebank
    tables = tables or {}
    numbering = Numbering(views_of(columns, tables), tables)
    rows, types = numbering.read(text)
    labels = np.zeros(len(rows.starts), np.int32)
    labels[:-1][rows.gaps[1:] > 0] = _LABELS.index(JOINED)
    for ends, label in ((token_ends, TOKEN), (sentence_ends, SENTENCE)):
        labels[np.searchsorted(rows.starts, ends) - 1] = _LABELS.index(label)
    if not (labels[:-1] >= _LABELS.index(TOKEN))[rows.gaps[1:] == 0].any():
        _log.warning(_ALL_SPACED)
        labels[labels == _LABELS.index(TOKEN)] = _LABELS.index(INSIDE)  # white space ends them all
    found, ids = np.unique(labels, return_inverse=True)
    pieces = _pieces(len(labels))
    seen = {
        name: Column.of_types(values, ids)
        for number, (view, ids) in enumerate(zip(numbering.views, types, strict=True))
        for name, values in zip(view, numbering.new_values(number)[1], strict=True)
    }
    if WORDS in tables and jackknifed:
        seen |= _jackknifed(treebank, rows)
    return TrainingData(
        {name: seen[name] for name in columns},
        Column([_LABELS[i] for i in found.tolist()], ids.reshape(-1).astype(np.int32)),
        np.diff(rows.paragraphs),
        pieces,
    )


def is_unpunctuated(treebank: TreebankText) -> bool:
    """Return whether white space separates all tokens, and no marks show where sentences end.

    Marks show it if breaks after those signs that mostly end a sentence find most of the breaks.

    Examples
    --------
    >>> is_unpunctuated(TreebankText("jah qaþ ", np.array([3, 7]), np.array([7])))
    True
    >>> is_unpunctuated(TreebankText("jah . ", np.array([3, 5]), np.array([5])))
    False
    """
    text, token_ends, sentence_ends = treebank
    words = len(text.split())
    if words != len(token_ends) or not all(
        text[end : end + 1].isspace() for end in token_ends[:-1]
    ):
        return False
    last_signs = Counter(text[end - 1] for end in token_ends.tolist())
    at_ends = Counter(text[end - 1] for end in sentence_ends.tolist())
    marks = [
        sign
        for sign, count in at_ends.items()
        if 2 * count > last_signs[sign] and category(sign)[0] in "PS"
    ]
    found = sum(last_signs[sign] for sign in marks)
    right = sum(at_ends[sign] for sign in marks)
    return 2 * right < _F1_OF_MARKS * (len(sentence_ends) + found)


def _break_examples(treebank: TreebankText) -> TrainingData:
    """Return the words that white space separates, and whether a sentence ends with each."""
    text = treebank.text
    places = [found.span() for found in re.finditer(r"\S+", text)]
    starts, ends = np.array(places, np.int64).reshape(-1, 2).T
    closing = [found.start() for found in re.finditer(SEPARATOR, text)]
    paragraph = np.searchsorted(np.array(closing, np.int64), starts)
    found, ids = np.unique(np.isin(ends, treebank.sentence_ends), return_inverse=True)
    return TrainingData(
        {"form": Column.of(text[begin:end][:LONGEST_WORD] for begin, end in places)},
        Column([(TOKEN, SENTENCE)[i] for i in found.tolist()], ids.astype(np.int32)),
        np.unique(paragraph, return_counts=True)[1],
        _pieces(len(places)),
    )


def word_table(treebank: TreebankText) -> WordTable | None:
    r"""Return the tokens of a treebank as a word table for the segmenter.

    None if white space or signs separate the words: a table would be large and change little.

    Examples
    --------
    >>> word_table(TreebankText("to be ", np.array([2, 5]), np.array([5])))
    >>> word_table(TreebankText("tobe", np.array([2, 4]), np.array([4])))
    <seqtag.WordTable training-words: 2 words, 1 values>
    """
    text, tokens = treebank.text + " ", treebank.tokens
    glued = (text[end - 1].isalnum() and text[end].isalnum() for end in treebank.token_ends)
    unseparated = sum(glued) + sum(" " in token for token in tokens)
    return _table_of(tokens) if unseparated > _LEAST_UNSEPARATED * len(tokens) else None


def _table_of(words: Iterable[str]) -> WordTable:
    """Return the table of some words of the training data."""
    origin = {"source": "the tokens of the training data"}
    return WordTable.of(WORDS, ((word, [""]) for word in words), "lower0", origin=origin)


def _jackknifed(treebank: TreebankText, rows: CharacterRows) -> dict[str, Column]:
    """Return the columns for the words of the training data, each fold by the words of others."""
    text, token_ends, sentence_ends = treebank
    of_sentence = np.arange(len(sentence_ends)) * _FOLDS // len(sentence_ends)
    of_token = of_sentence[np.searchsorted(sentence_ends, token_ends)]
    folds: defaultdict[str, set[int]] = defaultdict(set)
    for token, fold in zip(treebank.tokens, of_token.tolist(), strict=True):
        folds[token].add(fold)
    columns = text_columns(WORDS)
    values: list[list[str]] = [[] for _ in columns]
    begin = 0
    for fold in np.unique(of_sentence).tolist():
        others = _table_of(word for word, where in folds.items() if where != {fold})
        numbering = Numbering([columns], {WORDS: others})
        end = int(np.searchsorted(rows.starts, sentence_ends[of_sentence == fold][-1]))
        types = numbering.read(text)[1][0, begin:end].tolist()
        for found, of_types in zip(values, numbering.new_values(0)[1], strict=True):
            found += [of_types[each] for each in types]
        begin = end
    return {name: Column.of(each) for name, each in zip(columns, values, strict=True)}


def _pieces(rows: int) -> NDArray[np.int64]:
    """Return the lengths of the pieces of a number of rows."""
    return np.diff(np.append(np.arange(0, rows, _PIECE_CHARACTERS), rows))


# --------------------------------------------------------------------------- words
class WordExample(NamedTuple):
    """Token of a treebank, and its words.

    Attributes
    ----------
    place
        The token and its neighbors.
    words
        Its words; None if it is a single word.
    tags
        Parts of speech of the words; empty if the treebank has none.
    """

    place: InContext
    words: Words | None
    tags: tuple[str, ...]


def word_examples(
    examples: Sequence[WordExample],
    columns: Sequence[str],
    source: str | None = None,
    *,
    tagged: bool = False,
    tables: Mapping[str, WordTable] | None = None,
    jackknifed: bool = True,
) -> TrainingData:
    """Return the tokens of a treebank as sequences of characters, labeled with scripts.

    A token that always has the same words is one example. An ambiguous token is an example at
    each occurrence, with its neighbors as columns.

    Parameters
    ----------
    examples
        The tokens.
    columns
        Columns that templates use, of `seqtag.segmentation.multiword.COLUMNS`, or columns for the
        words of `tables`.
    source
        Name of their file, for the message.
    tagged
        Whether labels have the parts of speech of the words: those that the words of a token have
        most often.
    tables
        Word tables by name, see `seqtag.segmentation.word_parts`.
    jackknifed
        Whether `PARTS` is the table of these examples. If so, each token is looked up in the counts
        of all others: its parts are known as those of a new token.

    Raises
    ------
    CorpusError
        If there are no multiword tokens.
    """
    plausible = _readings(examples)
    counts = _part_counts(plausible) if tables else None
    pairs = {(form, words) for form, readings in plausible.items() for words in readings if words}
    if not pairs:
        raise _no_words(source)
    if "form" not in columns:  # nothing could tell readings apart
        plausible = {form: readings[:1] for form, readings in plausible.items()}
    differ = {normal_form(form) for form, readings in plausible.items() if len(readings) > 1}
    ambiguous = {form for form in plausible if normal_form(form) in differ}
    kept = []
    for each in examples:
        form = each.place.token
        if each.words in plausible[form]:
            kept.append(each)
            if form not in ambiguous:
                plausible[form] = []  # once is enough
    scripts = scripts_of(sorted(pairs))
    tags = _usual_tags(examples) if tagged else {}
    labels: list[str] = []
    for (token, *_), words, _ in kept:
        found = scripts[token, words] if words else [COPY] * len(letters_of(token))
        labels += _with_tags(found, tags[token, words]) if tagged else found
    parts: dict[str, Column] = {}
    for name, table in (tables or {}).items():
        finds: Iterable[Find] = repeat(find_in(table))
        if counts and name == PARTS and jackknifed:
            finds = (counts.without(_folded_words(each.place.token, each.words)) for each in kept)
        letters = (letters_of(each.place.token) for each in kept)
        parts |= part_columns(map(part_rows, letters, finds), name)
    values = letter_columns([each.place for each in kept], ambiguous, columns, parts)
    return TrainingData(
        dict(zip(columns, values, strict=True)),
        Column.of(labels),
        np.array([len(letters_of(each.place.token)) for each in kept], np.int64),
    )


def check_multiword(tokens: Sequence[Sequence[WordExample]], source: str | None) -> None:
    """Refuse a treebank without multiword tokens.

    Raises
    ------
    CorpusError
        If there are none, apart from what seem to be annotation errors.
    """
    if not any(map(any, _readings(chain.from_iterable(tokens)).values())):
        raise _no_words(source)


def _no_words(source: str | None) -> CorpusError:
    msg = (
        "expected multiword tokens, which CoNLL-U writes as ranges such as 1-2, found none; leave "
        "out the label words"
    )
    return CorpusError(msg, source=source)


def part_table(examples: Iterable[WordExample]) -> WordTable:
    """Return the table of the role counts of words in the tokens of a treebank."""
    return _part_counts(_readings(examples)).table()


def _part_counts(readings: Mapping[str, Iterable[Words | None]]) -> PartCounts:
    """Return in how many types of tokens texts are words."""
    types = {
        (folded(letters_of(token)), _folded_words(token, words))
        for token, each in readings.items()
        for words in each
    }
    return PartCounts(words for _, words in types)


def _readings(examples: Iterable[WordExample]) -> dict[str, list[Words | None]]:
    """Return the plausible readings of each token, the most frequent first."""
    seen: defaultdict[str, Counter[Words | None]] = defaultdict(Counter)
    for each in examples:
        seen[each.place.token][each.words] += 1
    return {form: _plausible(counts) for form, counts in seen.items()}


def _folded_words(token: str, words: Words | None) -> Words:
    """Return the words of a token as they are looked up."""
    return tuple(folded(letters_of(word)) for word in words or (token,))


def _usual_tags(
    examples: Iterable[WordExample],
) -> dict[tuple[str, Words | None], tuple[str, ...]]:
    """Return the parts of speech that the words of each token have most often; first of equals."""
    counts: defaultdict[tuple[str, Words | None], Counter[tuple[str, ...]]] = defaultdict(Counter)
    for place, words, tags in examples:
        counts[place.token, words][tags] += 1
    return {key: count.most_common(1)[0][0] for key, count in counts.items()}


def _with_tags(scripts: Iterable[str], tags: Sequence[str]) -> list[str]:
    """Return labels: scripts, and the part of speech of the word in which each begins."""
    labels: list[str] = []
    word = 0
    for script in scripts:
        labels.append(script + TAGGED + tags[word])
        word += SplitScript.read(script).items.count(None)
    return labels


def gather_words(
    sentences: Iterable[Sentence],
) -> tuple[list[list[WordExample]], str | None]:
    """Return the tokens of each sentence that are short enough, and the name of the file.

    Words that labels cannot hold are left out.
    """
    found = []
    source = None
    for sentence in filter(len, sentences):
        source = source or sentence.source
        words = sentence.words
        tags = sentence.column("upos") if "upos" in sentence.columns else []
        tokens = surface_of(sentence).tokens
        forms = [token.form for token in tokens]
        examples = []
        for i, (form, first, count, *_) in enumerate(tokens):
            several = tuple(words[first : first + count]) if count > 1 else None
            of_words = tuple(tags[first : first + count])
            if len(form) <= MOST_TOKEN_CHARACTERS and not any(map(has_controls, several or ())):
                examples.append(WordExample(in_context(forms, i), several, of_words))
        found.append(examples)
    return found, source


def _plausible(counts: Counter[Words | None]) -> list[Words | None]:
    """Return the readings of a token without likely annotation errors, the most frequent first."""
    total = counts.total()
    least = _LEAST_SHARE * total
    often = counts.most_common()
    return [words for words, count in often if count >= least and (count > 1 or total < 4)]


def scripts_of(pairs: Sequence[Pair]) -> dict[Pair, list[str]]:
    """Return scripts that make words of tokens, one for each character; few different ones.

    `seqtag.segmentation.multiword.words_of` undoes it.

    Parameters
    ----------
    pairs
        Tokens and their words, none empty. The order decides between scripts that are as good.

    Examples
    --------
    >>> scripts = scripts_of([("don't", ("do", "n't")), ("Im", ("In", "dem"))])
    >>> scripts["don't", ("do", "n't")], scripts["Im", ("In", "dem")]
    (['=', '=|', '=', '=', '='], ['=n|de', '='])
    """
    split = ((pair, _split_scripts(*pair)) for pair in pairs)
    plain = {pair: scripts for pair, scripts in split if scripts}
    aligned = {pair: _align_ends(*pair) for pair in pairs if pair not in plain}
    some = list(aligned)[:: max(1, len(aligned) // _SAMPLED_TOKENS)]
    counts = Counter(script for scripts in plain.values() for script in scripts)
    costs = _Costs()
    for _ in range(_ROUNDS):
        aligned |= {pair: _aligned(*pair, costs, aligned[pair]) for pair in some}
        costs = _Costs(counts + Counter(script for pair in some for script in aligned[pair]))
    aligned = {pair: _aligned(*pair, costs, known) for pair, known in aligned.items()}
    return plain | aligned


def _split_scripts(token: str, words: Words) -> list[str] | None:
    """Return the scripts of a token that is the concatenation of its words; None for others."""
    lengths = [len(letters_of(word)) for word in words]
    if "".join(words) != token or sum(lengths) != len(letters_of(token)):
        return None
    scripts = [COPY + END * (i == length) for length in lengths for i in range(1, length + 1)]
    scripts[-1] = COPY
    return scripts


def _align_ends(token: str, words: Words) -> list[str]:
    """Return scripts that copy the common prefix and suffix, and write the rest in one place."""
    letters, symbols = letters_of(token), _symbols(words)
    shorter = min(len(letters), len(symbols))
    left = 0
    while left < shorter and letters[left] == symbols[left]:
        left += 1
    left = min(left, len(letters) - 1)
    right = 0
    while right < shorter - left - 1 and letters[-1 - right] == symbols[-1 - right]:
        right += 1
    rest = symbols[left : len(symbols) - right]
    written = _script(letters[left], rest, is_upper(token))
    return [
        *[COPY] * left,
        written,
        *[NOTHING] * (len(letters) - left - right - 1),
        *[COPY] * right,
    ]


class _Costs(dict[str, float]):
    """Costs of scripts: by how much they change, or by how often the last round chose them."""

    def __init__(self, chosen: Counter[str] | None = None):
        super().__init__()
        self._chosen, self._all = chosen, chosen.total() if chosen else 0

    def __missing__(self, script: str) -> float:
        if self._chosen is None:
            cost = 0.0 if script == COPY else 1 + len(script) - 0.5 * (script[0] == COPY)
        else:
            cost = log2(self._all / (self._chosen[script] + _UNSEEN_COUNT)) + 0.01 * len(script)
        self[script] = cost
        return cost


def _aligned(token: str, words: Words, costs: _Costs, known: list[str]) -> list[str]:
    """Return the scripts of least cost for the words of a token; the first of equals.

    A shortest path through (characters read, symbols written), pruned by the cost of the scripts
    that are known.
    """
    upper, letters, symbols = is_upper(token), letters_of(token), _symbols(words)
    count = len(symbols)
    if len(letters) * count > _MOST_CELLS:
        return known
    most = max(_MOST_SYMBOLS, count - len(letters) + _MOST_SYMBOLS)
    enough = sum(costs[script] for script in known) + 1e-6
    best = {0: 0.0}  # by the number of symbols written
    ways: list[dict[int, tuple[int, str]]] = []  # for each character, where from and by what
    for i, letter in enumerate(letters):
        last = i == len(letters) - 1
        reached: dict[int, float] = {}
        way: dict[int, tuple[int, str]] = {}
        for begin, spent in best.items():
            for end in [count] if last else range(begin, min(begin + most, count) + 1):
                script = _script(letter, symbols[begin:end], upper)
                total = spent + costs[script]
                if total < reached.get(end, enough):
                    reached[end] = total
                    way[end] = begin, script
        best = reached
        ways.append(way)
    if not best:
        return known
    scripts: list[str] = []
    for way in reversed(ways):
        count, script = way[count]
        scripts.append(script)
    return scripts[::-1]


def _symbols(words: Words) -> tuple[Symbol, ...]:
    """Return the symbols to write."""
    return tuple(symbol for word in words for symbol in (*letters_of(word), None))[:-1]


@lru_cache(maxsize=1 << 18)
def _script(letter: str, symbols: tuple[Symbol, ...], upper: bool) -> str:
    """Return the script that writes some symbols for a character, in lower case if possible."""
    copied = symbols.index(letter) if letter in symbols else -1
    items = [COPY if i == copied else s and "\\" + s for i, s in enumerate(symbols)]
    folded = [s and s.lower() if len(s or "") == len((s or "").lower()) else s for s in items]
    script = SplitScript(False, tuple(folded))
    if _spelt(script.symbols(letter, upper)) == _spelt(symbols):
        return str(script)
    return str(SplitScript(True, tuple(items)))


def _spelt(symbols: Iterable[Symbol]) -> list[Symbol]:
    """Return symbols as single code points."""
    return [part for symbol in symbols for part in (symbol or [None])]
