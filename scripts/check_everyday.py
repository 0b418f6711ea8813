"""Check the annotation of corpora/everyday.

Usage: python scripts/check_everyday.py [FILE.conllu ...] [--treebank train.conllu ...]

Checks the form of the files: texts, ids, multiword tokens, tags, and names. With treebanks of the
same conventions, such as UD English EWT, it also refuses pairs of tags that they do not have and
sentences that are copies of theirs, and lists, for reading, features that they do not have and the
known words that are never annotated in this way there. Ends with status 1 if there are errors.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parent.parent / "corpora" / "everyday"
UPOS = {"ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN"}
UPOS |= {"PUNCT", "SCONJ", "SYM", "VERB", "X"}
NER = {"O", *(f"{prefix}-{name}" for prefix in "BI" for name in ("PER", "LOC", "ORG"))}


def sentences(path: Path) -> Iterator[tuple[dict[str, str], list[list[str]]]]:
    """The comments and the rows of each sentence."""
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        lines = block.strip("\n").split("\n") if block.strip() else []
        comments = [line[1:].partition(" = ") for line in lines if line.startswith("#")]
        rows = [line.split("\t") for line in lines if not line.startswith("#")]
        if rows:
            yield {key.strip(): value for key, _, value in comments}, rows


def tags(row: list[str]) -> tuple[str, str, str]:
    """UPOS, XPOS and features of a word."""
    return row[3], row[4], row[5]


def check(comments: dict[str, str], rows: list[list[str]]) -> Iterator[str]:
    """The errors of one sentence that need no treebank."""
    if bad := [row for row in rows if len(row) != 10]:
        yield f"not ten columns: {bad[0]}"
        return
    words = [row for row in rows if "-" not in row[0]]
    if [row[0] for row in words] != [str(number) for number in range(1, len(words) + 1)]:
        yield "the words are not numbered from 1"
    text, last = "", 0
    for row in rows:
        first, _, end = row[0].partition("-")
        if int(first) > last:
            text += row[1] + ("" if "SpaceAfter=No" in row[9].split("|") else " ")
            last = int(end or first)
        if end:
            parts = words[int(first) - 1 : int(end)]
            if int(end) <= int(first) or "".join(part[1] for part in parts) != row[1]:
                yield f"the words of {row[1]} do not make it up"
            if row[2:9] != ["_"] * 7 or row[9] not in ("_", "SpaceAfter=No"):
                yield f"the multiword token {row[1]} has annotation"
    if text.strip() != comments.get("text") or text != text.strip() + " ":
        yield f"the forms make up {text!r}"
    before = "O"
    for row in words:
        misc = dict(item.split("=", 1) for item in row[9].split("|") if item != "_")
        name = misc.get("NER", "O")
        if misc.keys() - {"SpaceAfter", "NER"} or misc.get("SpaceAfter", "No") != "No":
            yield f"MISC of {row[1]}: {row[9]}"
        if name not in NER or (name[0] == "I" and before[1:] != name[1:]):
            yield f"NER of {row[1]}: {name} after {before}"
        before = name
        if row[3] not in UPOS or "_" in (row[2], row[4]) or row[6:9] != ["_"] * 3:
            yield f"columns of {row[1]}: {row[2:9]}"
        features = [item.partition("=")[0] for item in row[5].split("|")]
        if features != sorted(set(features), key=str.lower):
            yield f"features of {row[1]}: {row[5]}"


def main() -> int:
    """Check the files; 1 if there are errors."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, default=sorted(FOLDER.glob("*.conllu")))
    parser.add_argument("--treebank", nargs="+", type=Path, default=[])
    arguments = parser.parse_args()
    known: dict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
    pairs, combinations, texts = set(), set(), set()
    for path in arguments.treebank:
        for comments, rows in sentences(path):
            texts.add(re.sub(r"\W+", " ", comments.get("text", "")).strip().lower())
            for row in rows:
                pairs.add((row[3], row[4]))
                combinations.add(tags(row))
                known[row[1].lower()][(*tags(row)[:2], row[2])] += 1
    ids: set[str] = set()
    seen: dict[str, str] = {}
    errors = 0
    for path in arguments.files:
        counts: Counter[str] = Counter()
        for number, (comments, rows) in enumerate(sentences(path), 1):
            name, text = comments.get("sent_id", "?"), comments.get("text", "")
            found = list(check(comments, rows))
            if name != f"everyday-{path.stem}-{number:03}" or name in ids:
                found.append("the id is not the next one")
            plain = re.sub(r"\W+", " ", text).strip().lower()
            if plain in seen or (plain in texts and len(plain.split()) > 3):
                found.append(f"copy of {seen.get(plain, 'a treebank')}: {text}")
            ids.add(name)
            seen[plain] = name
            for row in (row for row in rows if "-" not in row[0]):
                counts["words"] += 1
                counts["names"] += "NER=B-" in row[9]
                if pairs and (row[3], row[4]) not in pairs:
                    found.append(f"{row[1]}: {row[3]} {row[4]} is not in the treebanks")
                elif combinations and tags(row) not in combinations:
                    print(f"{name}: read {row[1]} {' '.join(tags(row))}, new to the treebanks")
                usual = known.get(row[1].lower())
                if usual and (*tags(row)[:2], row[2]) not in usual:
                    print(f"{name}: read {row[1]} {row[2:5]}, not {list(usual)[:3]}")
            counts["sentences"] += 1
            errors += len(found)
            for error in found:
                print(f"{name}: {error}")
        print(path.stem, *(f"{count} {key}" for key, count in counts.items()))
    print(f"{len(ids)} sentences, {errors} errors")
    return min(errors, 1)


if __name__ == "__main__":
    sys.exit(main())
