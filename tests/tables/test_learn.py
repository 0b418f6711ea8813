"""Word classes: what is counted, in any format; what is found; what is refused."""

from __future__ import annotations

import gzip
import io
import lzma
import random

import pytest

import seqtag
from seqtag.corpus import ReadLimits, read
from seqtag.engine import backend
from seqtag.errors import BackendError, CorpusError, OptionError
from seqtag.tables import learn as word_bigrams
from seqtag.tables.learn import WordBigrams, learn_classes
from seqtag.tables.lexicon import read_table
from tests.strategies import needs_native

pytestmark = needs_native

DETERMINERS, NOUNS, VERBS = ("the", "a", "this"), ("dog", "cat", "bird"), ("sees", "hears", "likes")


def toy(seed: int = 1, count: int = 300) -> list[list[str]]:
    """Sentences of a grammar of three classes."""
    draw = random.Random(seed)
    return [
        [draw.choice(words) for words in (DETERMINERS, NOUNS, VERBS, DETERMINERS, NOUNS)]
        for _ in range(count)
    ]


def tokens(sentences) -> bytes:
    return "".join(" ".join(words) + "\n" for words in sentences).encode()


def table_of(found, tmp_path) -> bytes:
    found.save(tmp_path / "found.classes")
    return (tmp_path / "found.classes").read_bytes()


# ----------------------------------------------------------------- what is found
def test_the_classes_of_a_toy_grammar_are_found():
    found = learn_classes(toy(), classes=3)
    assert {frozenset(found.members(c)) for c in range(3)} == {
        frozenset(words) for words in (DETERMINERS, NOUNS, VERBS)
    }
    assert len(found) == 9


def test_a_pass_never_makes_the_text_harder_to_guess_and_the_last_ones_move_nothing():
    told = []
    found = learn_classes(toy(), classes=3, passes=6, on_pass=told.append)
    assert found.passes == told
    perplexities = [each.perplexity for each in told]
    assert perplexities == sorted(perplexities, reverse=True)
    assert [each.number for each in told] == [1, 2, 3, 4, 5, 6]
    assert told[-1].moved == 0


def test_perplexity_is_that_of_the_class_bigram_model():
    """Two words in one class, each half of it, the boundary behind each: two bits for two "
    "tokens."""
    found = learn_classes([["a"], ["b"]] * 8, classes=1)
    assert found.passes[-1].perplexity == pytest.approx(2**0.5)


def test_words_are_in_the_order_of_their_counts_then_of_letters():
    text = [["b", "a", "c", "c"], ["b", "a", "d"]]
    assert learn_classes(text, classes=1, min_count=1).words == ["a", "b", "c", "d"]
    assert learn_classes([*text, ["b"]], classes=1, min_count=2).words == ["b", "a", "c"]


def test_spellings_that_are_looked_up_as_one_are_one_word():
    text = [["The", "don’t", "１９８４"], ["THE", "don't", "2001"]]
    found = learn_classes(text, classes=1, min_count=2)
    assert found.words == ["0000", "don't", "the"]
    assert [found.of(word) for word in ("tHe", "1066", "Don’t", "dog")] == ["0", "0", "0", "rare"]


def test_words_that_no_table_can_hold_are_rare():
    found = learn_classes([["a", "b\tc", "", "d\n"]] * 5, classes=1)
    assert found.words == ["a"]


# ----------------------------------------------------------------- what is read
FILES = {
    "tokens": tokens(toy()),
    "gz": gzip.compress(tokens(toy())),
    "xz": lzma.compress(tokens(toy())),
    "columns": "\n\n".join("\n".join(f"{w} X" for w in words) for words in toy()).encode(),
    "conllu": "".join(
        "".join(f"{i}\t{w}" + "\t_" * 8 + "\n" for i, w in enumerate(words, 1)) + "\n"
        for words in toy()
    ).encode(),
    "tagged": "".join(" ".join(f"{w}/X" for w in words) + "\n" for words in toy()).encode(),
    "text": "".join(" ".join(words) + ".\n" for words in toy()).replace(".", "").encode(),
    "odd": tokens(toy()).replace(b" ", b" \t ").replace(b"\n", b" \r\n\n").removesuffix(b" \r\n\n"),
}
FORMATS = {"gz": "tokens", "xz": "tokens", "odd": "tokens"}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("threads", [1, 3])
def test_every_format_gives_the_same_classes(name, threads, monkeypatch, tmp_path):
    wanted = table_of(learn_classes(toy(), classes=3), tmp_path)
    monkeypatch.setattr("seqtag.corpus.stream.CHUNK", 500)  # in many blocks
    (tmp_path / "file").write_bytes(FILES[name])
    found = learn_classes(
        tmp_path / "file", classes=3, format=FORMATS.get(name, name), threads=threads
    )
    assert table_of(found, tmp_path) == wanted


def test_odd_blocks_of_tables_are_read_in_python_and_count_the_same(monkeypatch, tmp_path):
    wanted = table_of(learn_classes(toy(), classes=3), tmp_path)
    monkeypatch.setattr("seqtag.corpus.stream.CHUNK", 500)
    parts = FILES["columns"].split(b"\n\n")
    parts[150] += b"\n \n\n"  # a blank line more than there need be
    stream = read(io.BytesIO(b"\n\n".join(parts)), "columns", columns=["form", "x"])
    found = learn_classes(stream, classes=3)
    assert table_of(found, tmp_path) == wanted


def test_several_sources_are_one_text(tmp_path):
    sentences = toy()
    (tmp_path / "a.txt").write_bytes(tokens(sentences[:100]))
    whole = learn_classes(sentences, classes=3)
    stream = read(io.BytesIO(tokens(sentences[100:200])), "tokens")
    last = read(io.BytesIO(tokens(sentences[200:])), "tokens")
    parts = learn_classes([tmp_path / "a.txt", stream, *last], classes=3, format="tokens")
    assert table_of(parts, tmp_path) == table_of(whole, tmp_path)
    assert (parts.tokens, parts.types) == (1500, 9)


def test_a_mark_at_the_head_of_a_file_is_no_part_of_a_word():
    counted = WordBigrams()
    assert sum(counted.read(read(io.BytesIO(b"\xef\xbb\xbfa b\na"), "tokens"))) == 3
    assert counted.types == 2


@pytest.mark.parametrize(("text", "words"), [(b"", 0), (b"\n\n", 0), (b"a\nb\n\na\n", 3)])
def test_tables_may_be_empty_or_have_one_column(text, words):
    stream = read(io.BytesIO(text), "columns", columns=["form"])
    assert sum(WordBigrams().read(stream)) == words


def test_a_sentence_that_is_too_long_is_refused_with_its_line():
    stream = read(io.BytesIO(b"a b\n\na b c d\n"), "tokens", limits=ReadLimits(sentence=3))
    with pytest.raises(CorpusError) as error:
        learn_classes(stream, classes=1)
    assert str(error.value) == (
        "<stream>:3: expected at most 3 words in a sentence, found more in the one that starts "
        "here; mark the sentence boundaries, or allow more in Python with limits="
    )


# ----------------------------------------------------------------- what is written
def test_the_file_says_what_it_is(tmp_path):
    found = learn_classes(toy(), classes=3)
    found.save(tmp_path / "toy.small.classes", source="a made-up grammar")
    lines = (tmp_path / "toy.small.classes").read_text().splitlines()
    rows = [line.split("\t") for line in lines if "\t" in line]
    assert lines[: -len(rows)] == [
        "# seqtag table 1",
        "# name: toy",
        "# words: lower0",
        "# absent: rare",
        "# source: a made-up grammar",
        "# tokens: 1500",
        "# types: 9",
        "# classes: 3",
        "# min-count: 3",
        "# passes: 4",
        f"# perplexity: {found.passes[-1].perplexity:.2f}",
        f"# by: seqtag {seqtag.__version__}",
    ]
    assert rows == [[w, str(c)] for c in range(3) for w in found.members(c)]


# ----------------------------------------------------------------- what is refused
@pytest.mark.parametrize(
    ("text", "options", "error", "message"),
    [
        (toy(), {"classes": 0}, OptionError, "expected from 1 to 4096 classes, found 0"),
        (toy(), {"classes": 4097}, OptionError, "expected from 1 to 4096 classes, found 4097"),
        (toy(), {"min_count": 0}, OptionError, "expected min-count of at least 1, found 0"),
        (toy(), {"passes": 0}, OptionError, "expected passes of at least 1, found 0"),
        (toy(), {"threads": 0}, OptionError, "expected at least 1 thread, found 0"),
        (
            toy(),
            {"classes": 10},
            CorpusError,
            "expected at least 10 words that occur at least 3 times, one per class, found 9; use "
            "fewer classes, a lower min-count, or more text",
        ),
        ([], {}, CorpusError, "expected words to learn classes from, found none"),
        ([[], []], {}, CorpusError, "expected words to learn classes from, found none"),
        ([["a"], [1]], {}, TypeError, "expected sentences as lists of words, found [1]"),
        ([["a"], {1: 2}], {}, TypeError, "expected sentences as lists of words, found {1: 2}"),
    ],
)
def test_what_gives_no_classes_is_refused(text, options, error, message):
    with pytest.raises(error) as caught:
        learn_classes(text, **options)
    assert str(caught.value) == message


def test_more_words_than_are_counted_are_refused(monkeypatch):
    monkeypatch.setattr(word_bigrams, "MAX_BIGRAMS", 10)
    with pytest.raises(CorpusError) as error:
        learn_classes(read(io.BytesIO(b"a b c d e f g h i\n"), "tokens"), classes=1)
    assert str(error.value) == (
        "<stream>: expected at most 10 words and sentences to learn classes from, found more; use "
        "less text"
    )


def test_tables_of_classes_are_those_of_their_file(tmp_path):
    text = [["a", "dog", "barks"], ["a", "cat", "sleeps"], ["rare"]] * 3
    classes = learn_classes(text, classes=3)
    classes.save(tmp_path / "animals.classes", "a farm")
    assert (
        classes.table("animals", "a farm").digest == read_table(tmp_path / "animals.classes").digest
    )
    assert classes.table().of_words(["DOG", "owl"]) == [classes.of("dog"), "rare"]


def test_classes_are_not_learned_without_the_kernel(monkeypatch):
    monkeypatch.setattr(backend, "BigramCounter", None)
    with pytest.raises(BackendError, match="expected the native kernel to learn word classes"):
        learn_classes(toy(), classes=3)
