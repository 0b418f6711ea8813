"""Detection of what ends a paragraph."""

import random
import textwrap
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.segmentation.paragraphs import SEPARATOR, Marker, find_mode

PARAGRAPHS = [
    "The library of the town was closed for a year. Nobody knew when it would open again, and "
    "few asked. Then a teacher wrote to the newspaper, and the letter was printed on the first "
    "page. A week later the doors were open.",
    "In spring the river rises, because the snow in the mountains melts. The farmers wait until "
    "the water is gone. They say that the best fields are those that the river covers each year.",
    "She bought an old radio at the market. It had no cable, and one of its knobs was lost. At "
    "home she opened it, cleaned all parts and found a new cable. It played for many years.",
]
SENTENCES = [each.strip() + "." for text in PARAGRAPHS for each in text.split(".") if each]


def wrapped(*widths):
    """The paragraphs, the lines of which are broken at one width after the other."""
    texts = []
    for paragraph in PARAGRAPHS:
        lines, words = [], paragraph.split()
        while words:
            line = textwrap.wrap(" ".join(words), widths[len(lines) % len(widths)])[0]
            lines.append(line)
            del words[: len(line.split())]
        texts.append("\n".join(lines))
    return "\n\n".join(texts) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        wrapped(80),
        wrapped(60, 80, 70),
        wrapped(40, 72, 58, 66),
        wrapped(60, 80, 70).replace("\n\n", "\n"),
        wrapped(60, 80, 70).replace(". ", '." ').replace(".\n", '." )\n'),
        "The dog barks at the cat\nand runs away from it.\n\nThe cat sees it and\nclimbs a tree.\n",
        "# Title\n\n| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 9 + "\n" + wrapped(70, 80),
        "The firm expanded its pro-\nduction in the northern re-\ngion, where it em-\nploys two hundred.\n",
        "私は昨日図書館に行って本を\n借りたが、まだ読んでいない\nので返せない。\n\n"
        "天気がとても良かったから公園まで歩いて行こうと\n思っていたのに、急に雨が\n降り出した。\n",
    ],
)
def test_wrapped_text_has_paragraphs_between_blank_lines(text):
    assert find_mode(text).mode == "blank"


@pytest.mark.parametrize("end", [".", ""])
@pytest.mark.parametrize("change", [str, str.lower, str.upper])
@pytest.mark.parametrize("together", [1, 3, 9])
def test_sentences_have_a_line_each(end, change, together):
    sentences = [change(each.removesuffix(".") + end) for each in SENTENCES]
    groups = [sentences[at : at + together] for at in range(0, len(sentences), together)]
    text = "\n\n".join(map("\n".join, groups)) + "\n"
    assert find_mode(text).mode == ("blank" if together == 1 else "line")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "One line.",
        "apple\npear\nplum\nquince\nfig\n",
        "best hotels in the town\nhow to cook rice quickly\ncheap flights to new places\n",
        "@ann lol that was so good\nNo way!! I was not there\nI was there too and it was great\n"
        "Same here. I go next year too\nwhere are you now\n",
        "What a title this is\nThe body is one sentence.\n\nAnother title is here\nAnother body.\n",
        "これは本です。\n猫が好きだと彼女は言った。\nはい。\n\n今日は学校に行きます。\nもう帰る。\n",
    ],
)
def test_lists_of_words_phrases_and_messages_have_a_line_each(text):
    assert find_mode(text).mode == "line"


WORDS = [
    *("the", "a", "dog", "house", "red", "send", "buy", "find", "cheap", "old", "how", "to", "fix"),
    *("car", "is", "was", "in", "at", "we", "call", "me", "when", "can", "soon", "late", "today"),
    *("Norvale", "Grauburg"),
]
FIRST = ["Mira", "Tavo", "Lunet", "Oskari", "Sipa", "Joren", "Maximilian"]
LAST = ["Falk", "Odden", "Rask", "Velmar", "Tusk", "Featherstone"]


def words(rng, least, most):
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(least, most)))


LISTS = {
    "names": lambda rng: f"{rng.choice(FIRST)} {rng.choice(LAST)}",
    "short names": lambda rng: f"Ivan {rng.choice(['Petrov', 'Ivanov', 'Orlova'])}",
    "towns": lambda rng: f"{rng.choice(LAST)}, {rng.choice(FIRST)}",
    "queries": lambda rng: words(rng, 3, 6),
    "messages": lambda rng: words(rng, 4, 12).capitalize(),
    "sentences": lambda rng: words(rng, 4, 20).capitalize() + rng.choice(".!?"),
    "chat": lambda rng: f"[12:{rng.randint(10, 59)}] {rng.choice(FIRST)}: {words(rng, 2, 12)}",
    "rows": lambda rng: f"{rng.choice(FIRST):<12}{rng.choice(LAST):<14}{rng.randint(1990, 2024)}",
    "wide rows": lambda rng: f"{rng.choice(FIRST):<20}{rng.choice(LAST):<20}{rng.random():20.3f}",
    "bullets": lambda rng: f"- {words(rng, 3, 12)}",
    "headers": lambda rng: f"{rng.choice(['To', 'From', 'Subject'])}: {words(rng, 1, 6)}",
}


def marked(text):
    """The text with the ends of its paragraphs."""
    mode = find_mode(text)
    return Marker(mode.mode, mode.short).mark(text, final=True)


def share_of_breaks(texts):
    """The share of the line ends between lines that end paragraphs."""
    breaks = [
        found == SEPARATOR
        for text in texts
        for char, found in zip(text[:-1], marked(text), strict=False)
        if char == "\n"
    ]
    return sum(breaks) / len(breaks)


@pytest.mark.parametrize("kind", LISTS)
def test_lines_of_lists_and_tables_made_at_random_stay_apart(kind):
    rng = random.Random(kind)
    texts = [
        "".join(f"{LISTS[kind](rng)}\n" for _ in range(size))
        for size in (2, 3, 4, 6, 10, 30)
        for _ in range(50)
    ]
    assert share_of_breaks(texts) >= 0.99


def test_lines_of_prose_wrapped_at_random_stay_together():
    rng = random.Random(4)
    texts = [
        textwrap.fill(" ".join(rng.choices(SENTENCES, k=rng.randint(4, 9))), rng.randint(50, 100))
        for _ in range(300)
    ]
    assert share_of_breaks(texts) <= 0.02


def test_entries_of_lists_in_wrapped_text_end_with_their_lines():
    mail = "From: Mira Falk\nTo: Tavo Odden\nDate: 3 March\n\n"
    entries = "- the old radio\n- a new cable that is long enough for the room\n- knobs\n\n"
    signature = "Best regards\nMira Falk\n"
    text = mail + wrapped(72) + "\n" + entries + signature
    paragraphs = marked(text).split(SEPARATOR)
    entered = (mail + entries + signature).split("\n")
    assert [each for each in entered if each] == [
        each.strip("\n") for each in paragraphs if len(each) < 60 and each.strip()
    ]
    assert len([each for each in paragraphs if each.strip()]) == 8 + len(PARAGRAPHS)


@given(st.lists(st.sampled_from(["\n", " ", "- ", "word", "Word", "long" * 9, "end."])), st.data())
def test_pieces_are_marked_as_the_text_is(parts, data):
    text = "".join(parts)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)))) | {0, len(text)})
    marker = Marker("blank", 30)
    pieces = [marker.mark(text[a:b]) for a, b in pairwise(cuts)]
    assert "".join(pieces) + marker.mark("", final=True) == Marker("blank", 30).mark(
        text, final=True
    )
