"""Variants of typography keep the annotation, and change text and tokens alike."""

from benchmarks.typography import VARIANTS, changed

_ROWS = [("We", "_"), ("left", "_"), ("-", "_"), ("late", "SpaceAfter=No"), ("...", "_")]
_TEXT = "# text = We left - late...\n" + "".join(
    f"{i}\t{form}" + "\t_" * 7 + f"\t{misc}\n" for i, (form, misc) in enumerate(_ROWS, 1)
)


def forms(name: str) -> list[tuple[str, str]]:
    rows = [line.split("\t") for line in changed(_TEXT, VARIANTS[name])[0].split("\n") if line]
    return [(row[1], row[9]) for row in rows]


def test_variants_change_marks_and_blanks():
    assert forms("plain") == _ROWS
    closed = [("We", "_"), ("left", "SpaceAfter=No"), ("\u2014", "SpaceAfter=No"), *_ROWS[3:]]
    assert forms("dashes: em, closed") == closed
    assert forms("ellipses: one sign")[-1] == ("\u2026", "_")
    assert changed(_TEXT, VARIANTS["dashes: em for commas"])[1] == 0
