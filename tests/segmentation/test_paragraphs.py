"""Detection of what ends a paragraph."""

import textwrap

import pytest

from seqtag.segmentation.paragraphs import find_mode

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
