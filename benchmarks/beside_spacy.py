"""Compare `en` with a small English pipeline of spaCy: python -m benchmarks.beside_spacy CORPORA.

CORPORA is a folder with ud-english-partut/all.conllu and wnut17/dev.txt, texts that neither was
trained on. `--pipeline` is the name of a package or a folder. The figures go into
docs/benchmarks/results.json, from which `python -m benchmarks.report` makes the page.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measure import ROOT, machine
from benchmarks.text import filled, table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from seqtag import Sentence

RESULTS = ROOT / "docs" / "benchmarks" / "results.json"
UNSEEN = ROOT / "tests" / "english" / "unseen.conllu"
RUNS = 5
KINDS = {"PERSON": "PER", "ORG": "ORG", "GPE": "LOC", "LOC": "LOC", "FAC": "LOC"}
WNUT_KINDS = {"person": "PER", "corporation": "ORG", "group": "ORG", "location": "LOC"}


class Tool:
    """What is asked of a pipeline."""

    def __init__(
        self,
        conllu: Callable[[str], str],
        upos: Callable[[list[str]], Sequence[str]],
        names: Callable[[list[str]], Sequence[str]],
        annotate: Callable[[list[str]], Any],
    ):
        self.conllu, self.upos, self.names, self.annotate = conllu, upos, names, annotate


def seqtag_tool() -> Tool:
    """The embedded pipeline."""
    import seqtag

    en = seqtag.load("en")

    def names(words: list[str]) -> list[str]:
        return [label.replace("_", "O") for label in en.tag_words(words).column("misc.NER")]

    return Tool(
        lambda text: str(en(text)),
        lambda words: en.tag_words(words).column("upos"),
        names,
        lambda texts: en("\n\n".join(texts)),
    )


def spacy_tool(pipeline: Any) -> Tool:
    """A pipeline of spaCy; words of white space alone are left out."""
    from spacy.tokens import Doc

    from seqtag.corpus.conllu import write_conllu

    def annotated(words: list[str]) -> Any:
        return pipeline(Doc(pipeline.vocab, words))

    def conllu(text: str) -> str:
        found = []
        for sentence in pipeline(text).sents:
            words = [word for word in sentence if not word.is_space]
            columns = {"form": "text", "lemma": "lemma_", "upos": "pos_"}
            found.append({name: [getattr(w, key) for w in words] for name, key in columns.items()})
        return "".join(write_conllu(each) + "\n" for each in found if each["form"])

    def names(words: list[str]) -> list[str]:
        return [
            f"{word.ent_iob_}-{KINDS[word.ent_type_]}" if word.ent_type_ in KINDS else "O"
            for word in annotated(words)
        ]

    return Tool(
        conllu,
        lambda words: [word.pos_ for word in annotated(words)],
        names,
        lambda texts: list(pipeline.pipe(texts)),
    )


def measure(tool: Tool, partut: list[Sentence], wnut: list[Sentence]) -> dict[str, float]:
    """All figures of a tool, in percent; words per second of processor time."""
    import seqtag
    from seqtag.corpus.surface import raw_text_of
    from seqtag.evaluation import score_aligned

    found = {}
    for name, treebank in {"ParTUT": partut, "everyday": list(seqtag.read(UNSEEN))}.items():
        texts = [raw_text_of([each]).strip() for each in treebank]
        system = "".join(map(tool.conllu, texts))
        scores = score_aligned(treebank, list(seqtag.read(system.encode(), "conllu"))).to_dict()
        for column in ("words", "upos", "lemma") if name == "ParTUT" else ("words", "upos"):
            found[f"{name}: {column}"] = 100 * scores["metrics"][column]["f1"]
        gold = [list(each.column("upos")) for each in treebank]
        tagged = [list(tool.upos(list(each.column("form")))) for each in treebank]
        found[f"{name}: upos, gold words"] = 100 * seqtag.evaluate(gold, tagged).score
        if name == "ParTUT":
            seconds = []
            for _ in range(RUNS):
                began = time.process_time()
                tool.annotate(texts)
                seconds.append(time.process_time() - began)
            found["words per second"] = sum(map(len, treebank)) / statistics.median(seconds)
    gold = [[_mapped(label) for label in each.column("ner")] for each in wnut]
    predicted = [tool.names(list(each.column("form"))) for each in wnut]
    found["WNUT-17: names"] = 100 * seqtag.evaluate(gold, predicted).score
    return found


def _mapped(label: str) -> str:
    """A label of WNUT-17 in the types of Universal NER."""
    kind = WNUT_KINDS.get(label[2:])
    return f"{label[:2]}{kind}" if kind else "O"


ABOUT = """\
The embedded pipeline `en` and spaCy's small English pipeline ({pipeline}, spaCy {spacy}) on text
that neither was trained on, in percent: all of UD English-ParTUT from raw text, a sentence at a
time, and from gold words; a hundred everyday sentences (`tests/english/unseen.conllu`); and names
of the development part of WNUT-17, whose types were brought to PER, ORG, and LOC. **The
comparison is not even.** spaCy learned the conventions of OntoNotes (its own tokens, tags that
rules bring to UPOS, and names with other boundaries); `en` learned those of UD English-EWT, by
which the everyday sentences are annotated. ParTUT and WNUT-17 have conventions of their own.
spaCy's pipeline also parses. Speed is words of ParTUT per second of processor time.
"""


def section(results: dict[str, Any]) -> list[str]:
    """The section of the page."""
    ours, theirs = results["figures"].values()
    rows = []
    for name in ours:
        style = ",.0f" if name == "words per second" else ".1f"
        rows.append([name, f"{ours[name]:{style}}", f"{theirs[name]:{style}}"])
    return [
        "## `en` and a pipeline of spaCy\n",
        filled(ABOUT.format(**results)),
        table(["", "seqtag `en`", "spaCy"], rows),
        "`python -m benchmarks.beside_spacy CORPORA` measures it again.\n",
    ]


def main() -> None:
    """Measure, and store the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--pipeline", default="en_core_web_sm")
    options = parser.parse_args()
    import spacy

    import seqtag

    pipeline = spacy.load(options.pipeline)
    partut = list(seqtag.read(options.corpora / "ud-english-partut" / "all.conllu"))
    wnut = list(seqtag.read(options.corpora / "wnut17" / "dev.txt"))
    tools = {"seqtag": seqtag_tool(), "spaCy": spacy_tool(pipeline)}
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    results["beside_spacy"] = {
        "pipeline": f"{pipeline.meta['lang']}_{pipeline.meta['name']} {pipeline.meta['version']}",
        "spacy": spacy.__version__,
        "machine": machine(),
        "figures": {name: measure(tool, partut, wnut) for name, tool in tools.items()},
    }
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print("\n".join(section(results["beside_spacy"])))


if __name__ == "__main__":
    main()
