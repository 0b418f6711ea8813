"""Role counts of texts as words in tokens, and the columns of characters made of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.segmentation import word_parts
from seqtag.segmentation.word_parts import (
    NOTHING,
    PARTS,
    UNKNOWN,
    PartCounts,
    find_in,
    part_columns,
    part_rows,
)
from seqtag.tables.table import token_columns

WORDS = st.text("ab", min_size=1, max_size=4)
TYPES = st.lists(st.lists(WORDS, min_size=1, max_size=4), min_size=1, max_size=8)


def role_counts(text, types):
    """The role counts of a text, counted one by one."""
    counts = dict.fromkeys("FBML", 0)
    for words in types:
        for i, word in enumerate(words):
            role = "F" if len(words) == 1 else "B" if not i else "L" if i == len(words) - 1 else "M"
            counts[role] += word == text
    shown = ["", "1", "2", "2", "3"]
    return "".join(r + shown[min(n, 4)] for r, n in counts.items() if n) or UNKNOWN


@given(TYPES, st.lists(WORDS))
def test_role_counts_tell_how_often_texts_are_words(types, texts):
    find = find_in(PartCounts(types).table())
    assert [*find(texts)] == [role_counts(text, types) for text in texts]


@given(TYPES, st.data())
def test_role_counts_without_a_type_are_those_of_the_others(types, data):
    i = data.draw(st.integers(0, len(types) - 1))
    others = types[:i] + types[i + 1 :]
    texts = [*{word for words in types for word in words}, "c"]
    found = PartCounts(types).without(types[i])(texts)
    assert found == [role_counts(text, others) for text in texts]


def longest(spans):
    """The longest of spans, the first of equals; (0, 0) for none."""
    return max(spans, key=lambda span: (span[1] - span[0], -span[0]), default=(0, 0))


@given(TYPES, st.text("ab", min_size=1, max_size=7), st.integers(1, 8))
def test_columns_are_as_described(types, token, most):
    count = len(token)

    def seen(i, j):
        found = role_counts(token[i:j], types)
        if j - i == count and found.startswith("F"):
            return found[2:] or UNKNOWN
        return found

    known = [
        (i, j)
        for i in range(count)
        for j in range(i + 1, count + 1)
        if seen(i, j) != UNKNOWN and (j - i <= most or i == 0 or j == count)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_parts, "_LONGEST_WORD", most)
        rows = part_rows(token, find_in(PartCounts(types).table()))
    for k, row in enumerate(rows, 1):
        rest, head, whole, begins, begins_as, ends, ends_as, covers, covers_as = row
        assert rest == (seen(k, count) if k < count else NOTHING)
        assert (head, whole) == (seen(0, k), seen(0, count))
        i, j = longest([span for span in known if span[0] == k])
        assert begins == f"{min(6, j - i)}{'e' * (j == count)}"
        assert begins_as == (seen(i, j) if j else "")
        i, j = longest([span for span in known if span[1] == k])
        assert ends == f"{min(6, j - i)}{'s' * (j > i == 0)}"
        assert ends_as == (seen(i, j) if j else "")
        i, j = longest([span for span in known if span[0] < k < span[1]])
        assert covers == (f"{min(5, k - i)}.{min(5, j - k)}" if j else "0")
        assert covers_as == (seen(i, j) if j else "")


def test_columns_have_a_row_for_each_character():
    find = find_in(PartCounts([["a", "b"]]).table())
    columns = part_columns([part_rows(token, find) for token in ("ab", "\ud800", "İ")], PARTS)
    assert [*columns] == [*token_columns(PARTS)]
    assert {len(each.ids) for each in columns.values()} == {4}
    assert columns[f"head:{PARTS}"].values() == ["B1", "-", "-", "-"]


@pytest.mark.parametrize("count", [1_000, 10_000])
def test_long_tokens_have_few_parts(count):
    looked_up = []
    part_rows(
        "x" * count, lambda texts: looked_up.extend(map(len, texts)) or [UNKNOWN] * len(texts)
    )
    assert len(looked_up) < 20 * count
    assert sum(length > 16 for length in looked_up) < 2 * count
