"""Train the embedded English pipeline and write its model card.

Usage: python -m scripts.train_english CORPORA RAW GAZETTEERS [--out models] [--only tags|names|card]

CORPORA is a folder with ud-english-ewt/en_ewt-ud-{train,dev,test}.conllu and
ud-english-gum/train.conllu, uner-english-ewt/{train,dev}.iob2 with the names of EWT,
names-english/{gum,wikigold,broad-twitter}.iob2 and conll2000/test.txt; see `scripts.english_data`. RAW
is a folder with text in which word classes are found: english-open.txt.xz, tokenized, one sentence a
line, and english-open-2.txt.xz, as it is written. GAZETTEERS is a folder with lists of names, see
`scripts.english_names`. The same files and version of seqtag give a byte-identical model. --only names
trains names anew and keeps the other components of the model that is there, --only tags keeps those
that segment text; --only card measures that model and writes its card, models/en.md.
"""

from __future__ import annotations

import argparse
import io
import lzma
import statistics
import time
from collections import Counter
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import seqtag
from benchmarks.measure import machine
from scripts.english_data import EnglishData, everyday, sentences_of
from scripts.english_names import name_tables
from seqtag.corpus import read
from seqtag.corpus.surface import raw_text_of
from seqtag.evaluation import score_aligned
from seqtag.evaluation.scoring import score
from seqtag.tagging.pipeline import Pipeline
from seqtag.tagging.streams import tag_text
from seqtag.training.plan import COMPONENTS
from seqtag.training.task import TEXT_COMPONENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from seqtag.corpus import Sentence
    from seqtag.evaluation.aligned import AlignedReport
    from seqtag.model.model import Model

ROOT = Path(__file__).parents[1]
NAME_TEMPLATES = Path(__file__).parent / "english_names.txt"
CLASSES, PASSES = 500, 20  # until no word moves
SEGMENTER_DROPOUT = 0.2  # EWT dev, 3 seeds: sentences 91.00 -> 91.39, tokens 99.43 -> 99.41
MIN_COUNT = 4  # of features of taggers: 12.6 -> 8.2 MB, UPOS of EWT dev -.04
RUNS = 3  # EWT dev, 3 seeds: sentences 91.20 -> 91.40; more runs change nothing
NAME_RUNS, NAME_MIN_COUNT = 5, 6  # F1 of dev, 3 seeds: 73.3; of 3 and 4, 72.9 and 73.5, .4 MB more
LAST_EPOCHS = 3  # on EWT alone, after all corpora: F1 of its dev 72.3 -> 73.5
CARD = """\
# Model card: `en`

`scripts/train_english.py` wrote this page and measured each figure in it.

A pipeline from English text to CoNLL-U, of the components {components}.
seqtag uses this model if you name no other.

| | |
|---|---|
| Input | raw text, or words |
| Output | CoNLL-U: tokens, sentences, words, UPOS, XPOS, FEATS, LEMMA, names in MISC |
| Size | {mb:.1f} MB |
| Speed | about {words_per_second:,.0f} words per second from raw text to CoNLL-U, on one core ({cpu}) |
| Loading | {load_ms:.0f} ms |
| License | [CC BY-SA 4.0](LICENSE.txt), as for the treebanks; annotated text is not affected |
| Trained with | {writer} |

`seqtag.load("en").only("xpos")` writes the column `xpos` alone, as `seqtag tag -m en --only xpos`
does. Names (PER, LOC, ORG) are the key `NER` of MISC and `Document.ents`;
`--only upos,xpos,feats,lemma` leaves them out.

## Intended use

Modern written English as people type it: web pages, messages, reviews, news. Tokens, tags, and
lemmas follow UD English-EWT. XPOS has the Penn Treebank tags of EWT, with `HYPH`, `NFP`, `ADD`,
`AFX`, and `GW`, {xpos_labels} in all; UPOS has {upos_labels}.

## Training data

- The training set of the Universal Dependencies English Web Treebank (UD English-EWT, CC BY-SA 4.0):
  {ewt_sentences:,} sentences, {ewt_words:,} words of weblogs, newsgroups, e-mails, reviews, and
  questions and answers, written from 2000 to 2012.
- {gum_documents} documents of UD English-GUM whose texts may be used commercially (annotation CC BY
  4.0, texts CC BY, CC BY-SA or public domain): {gum_words:,} words of academic writing, biographies,
  court transcripts, interviews, news, speeches, textbooks, vlogs, and travel guides, brought to the
  conventions of EWT (`scripts/harmonize_english.py`).
- The odd sentences of [`corpora/everyday`](../corpora/everyday) (CC0): {everyday_words:,} words of
  short statements, headlines, recipes, chat, dates, addresses and others.
- Copies of sentences with a new word (an abbreviation, an address, an emoticon, a date), with other
  quotation marks and dashes (`scripts/enrich_english.py`), and, for tags, in title case, lower case,
  and capitals; and short sentences of the treebanks' words by patterns (`scripts/short_english.py`).
- Names: the labels of Universal NER on the training set of EWT (CC BY-SA 4.0), part of it also in
  lower case, and those of the everyday sentences; before them {other_names:,} words of others: names
  derived from the entities of GUM, WikiGold (CC BY 4.0), and the Broad Twitter Corpus (CC BY 4.0).
- Word classes: {classes} classes, learned by `seqtag classes` from {raw_tokens:,} words of raw text: the
  training set of EWT, the Manually Annotated Sub-Corpus of the American National Corpus (open data),
  inaugural and State of the Union addresses, Genesis in the World English Bible, pages and blogs of
  US government teams, and books of the 20th century (public domain or CC0).
- For names, lists of cities (GeoNames, CC BY 4.0), of firms listed in the United States (public
  domain), and of first and last names (United States census of 1990), and how the raw text writes
  each word: {listed:,} words in three tables.

No other resources, such as word vectors, were used.

## Scores in domain

F1 in percent on UD English-EWT, by the rules of the CoNLL 2018 shared task, on the
development set (*dev*) and the test set. The input is either raw text (*raw*) or the gold words
(*gold*). Settings were chosen on the development set.

{table}

Accuracy by genre, on dev and test together, from gold words; *unknown* is the accuracy of UPOS on
words that are not in the training data.

{genres}

Names, on the development set of EWT from gold words: F1 {names_f1}.

## Everyday sentences

UPOS in percent on the even sentences of `corpora/everyday`, each from raw text; the odd ones were
trained on. All: {everyday_all}.

{everyday_kinds}

## Scores out of domain

{other}

- *sample*: `corpora/sample` (CC0), {sample_words:,} words of news, guides, fiction, messages, reference,
  and numbers, written for seqtag and annotated by the conventions of EWT; from raw text.
- *CoNLL-2000*: {conll_words:,} words of the Wall Street Journal of 1989, from gold words. The tags of
  this corpus were assigned by the Brill tagger and not corrected, and follow the conventions of the
  Penn Treebank: the figure is the agreement of two taggers, not an accuracy.
- *capitals*, *lower case*: the words of EWT dev, converted to capitals or to lower case.

No other English treebank was measured. Expect lower scores on speech, dialects, and older text.

## Known errors

The table shows the most frequent confusions on dev, from gold words, with the most frequent words
of each:

{confusions}

- Confusions of names and common nouns are the largest group, because tags are found without lists of
  names.
- In headlines and short sentences, verbs with the form of a noun are the most frequent error; in
  chat, words that are spelled as they sound; on the web, tokens of paths and options.
- UPOS of words that are not in the training data: {unknown_upos}% correct; of others {known_upos}%.
- Lemmas of words that are not in the training data: {unknown_lemma}% correct; of others
  {known_lemma}%. Many errors are capitals kept or removed (*{lemma_errors}*).
- Of {sentences_of_dev:,} sentence ends of dev {missed:,} are missed, {missed_bare:,} of them without
  a final punctuation mark.

## Limits

- No parser: HEAD, DEPREL, and DEPS are empty.
- Scores of labels are margins, not probabilities: the components are not calibrated
  (`seqtag bundle --calibrate`).
- The training texts contain opinions and names from their writers; tags of names and rare spellings
  follow what is frequent in these texts.

## How it was made

```sh
python -m scripts.train_english CORPORA RAW GAZETTEERS
```

Averaged structured perceptron, {epochs} epochs; weights are 8-bit integers. Training is
deterministic: the same files and version of seqtag give the same bytes. The components of this
file that segment text are those that seqtag 0.4.0 trained: `--only tags` keeps them. Of those that
are trained anew, the tokens and sentences of EWT dev are within .03 and .2 of theirs.
"""


def predicted(pipeline: Pipeline, name: str, sentences: Iterable[Sequence[str]]) -> list[list[str]]:
    """Return the labels that a component gives lists of words."""
    tagged = pipeline.only(name).tag_many(sentences)
    return [[getattr(word, name) for word in sentence] for sentence in tagged]


def table(head: str, rows: Sequence[str]) -> str:
    """Return a table in Markdown."""
    return "\n".join([head, "|" + "---|" * (head.count("|") - 1), *rows])


def cells(name: str, report: AlignedReport) -> str:
    """Return a row with the F1 of all metrics."""
    figures = " | ".join(f"{100 * counts.f1:.2f}" for counts in report.metrics.values())
    return f"| {name} | {figures} |"


def percent(value: float | None) -> str:
    """Return a fraction in percent."""
    return f"{100 * (value or 0):.2f}"


def of_raw(pipeline: Pipeline, gold: list[Sentence]) -> AlignedReport:
    """Score the annotation of the raw text of some sentences."""
    return score_aligned(gold, pipeline.sentences(raw_text_of(gold), paragraphs="blank"))


def of_words(pipeline: Pipeline, path: Path) -> AlignedReport:
    """Score the annotation of the words of a file."""
    tagged = b"".join(tag_text(pipeline.taggers, read(path)))
    return score_aligned(list(read(path)), read(io.BytesIO(tagged), "conllu"))


def genre_rows(pipeline: Pipeline, sentences: list[Sentence]) -> list[str]:
    """Return a row for each genre, by the beginning of ``sent_id``."""
    genres: dict[str, list[Sentence]] = {}
    genre = ""
    for sentence in sentences:
        ids = [c.split("=")[1] for c in sentence.comments if c.startswith("# sent_id")]
        genre = ids[0].split("-")[0].strip() if ids else genre
        genres.setdefault(genre, []).append(sentence)
    rows = []
    for genre, part in sorted(genres.items()):
        upos, xpos = (score(pipeline.only(name), part) for name in ("upos", "xpos"))
        figures = [upos.accuracy, upos.unknown_accuracy, xpos.accuracy]
        rows.append(f"| {genre} | {upos.tokens:,} | {' | '.join(map(percent, figures))} |")
    return rows


def confusion_rows(pipeline: Pipeline, sentences: list[Sentence]) -> list[str]:
    """Return rows of the most frequent confusions."""
    rows = []
    for name in ("upos", "xpos"):
        report = score(pipeline.only(name), sentences)
        wrong = {pair: n for pair, n in report.confusion.items() if pair[0] != pair[1]}
        for gold, found in sorted(wrong, key=lambda pair: (-wrong[pair], pair))[:5]:
            words = [e.word for e in report.errors(10**6) if (e.gold, e.predicted) == (gold, found)]
            share = 100 * wrong[gold, found] / sum(wrong.values())
            rows.append(
                f"| {name.upper()} | {gold} | {found} | {share:.1f} | {', '.join(words[:4])} |"
            )
    return rows


def same_labels(a: Iterable[Sequence[str]], b: Iterable[Sequence[str]]) -> list[bool]:
    """Return for each word whether it has the same label in both."""
    pairs = zip(chain.from_iterable(a), chain.from_iterable(b), strict=True)
    return [first == second for first, second in pairs]


def sentence_ends(sentences: Iterable[Sentence]) -> dict[int, Sentence]:
    """Return sentences by the number of characters of words up to their ends."""
    found, at = {}, 0
    for sentence in sentences:
        at += sum(map(len, sentence.words))
        found[at] = sentence
    return found


def known_errors(pipeline: Pipeline, gold: list[Sentence]) -> dict[str, object]:
    """Return figures about unknown words and sentence ends."""
    upos = score(pipeline.tagger("upos"), gold)
    known = pipeline.taggers[0].known_words
    wrong: Counter[tuple[str, str]] = Counter()
    right: dict[bool, list[bool]] = {True: [], False: []}
    for sentence, tagged in zip(gold, pipeline.tag_many(s.words for s in gold), strict=True):
        for word, lemma, found in zip(
            sentence.words, sentence.column("lemma"), tagged, strict=True
        ):
            right[word in known].append(found.lemma == lemma)
            wrong[lemma, found.lemma] += word not in known and found.lemma != lemma
    predicted = sentence_ends(pipeline.sentences(raw_text_of(gold), paragraphs="blank"))
    ends = sentence_ends(gold)
    missed = [sentence for at, sentence in ends.items() if at not in predicted]
    return {
        "unknown_upos": percent(upos.unknown_accuracy),
        "known_upos": percent(upos.known_accuracy),
        "unknown_lemma": percent(sum(right[False]) / len(right[False])),
        "known_lemma": percent(sum(right[True]) / len(right[True])),
        "lemma_errors": "*, *".join(f"{b}* for *{a}" for (a, b), _ in wrong.most_common(2)),
        "sentences_of_dev": len(ends),
        "missed": len(missed),
        "missed_bare": sum(sentence.column("upos")[-1] != "PUNCT" for sentence in missed),
    }


def seconds_of(task: Callable[[], object], repeat: int = 5) -> float:
    """Return the median of the processor times of a function."""
    times = []
    for _ in range(repeat):
        begun = time.process_time()
        task()
        times.append(time.process_time() - begun)
    return statistics.median(times)


def everyday_scores(pipeline: Pipeline) -> tuple[str, str]:
    """Return UPOS of held-out everyday sentences, all and as a table by kind."""
    rows, correct, gold = [], 0, 0
    for kind, text in everyday(held_out=True).items():
        sentences = sentences_of(text)
        tagged = (pipeline.sentences(raw_text_of([each]), paragraphs="blank") for each in sentences)
        upos = score_aligned(sentences, chain.from_iterable(tagged)).metrics["upos"]
        rows.append(f"| {kind} | {upos.gold} | {percent(upos.f1)} |")
        correct, gold = correct + upos.correct, gold + upos.gold
    return percent(correct / gold), table("| kind | words | UPOS |", rows)


def card_of(path: Path, data: EnglishData) -> str:
    """Measure a pipeline and return its card."""
    pipeline = Pipeline.load(path)
    corpora = data.corpora
    treebank = corpora / "ud-english-ewt"
    rows, gold = [], {}
    for part in ("dev", "test"):
        file = treebank / f"en_ewt-ud-{part}.conllu"
        gold[part] = list(read(file))
        reports = of_raw(pipeline, gold[part]), of_words(pipeline, file)
        rows += [
            cells(f"{part}, {how}", r) for how, r in zip(("raw", "gold"), reports, strict=True)
        ]
    samples = sorted((ROOT / "corpora" / "sample").glob("*.conllu"))
    sample = list(chain.from_iterable(map(read, samples)))
    on_sample = of_raw(pipeline, sample).metrics
    wsj = list(read(corpora / "conll2000" / "test.txt"))
    tags = predicted(pipeline, "xpos", (sentence.words for sentence in wsj))
    same = same_labels((sentence.column("pos") for sentence in wsj), tags)
    metrics = "tokens", "sentences", "upos", "xpos", "lemma"
    figures = " | ".join(percent(on_sample[name].f1) for name in metrics)
    other = [
        f"| sample | {figures} |",
        f"| CoNLL-2000, test | | | | {percent(sum(same) / len(same))} | |",
    ]
    for name, change in (("capitals", str.upper), ("lower case", str.lower)):
        changed = [list(map(change, sentence.words)) for sentence in gold["dev"]]
        found = (
            same_labels((s.column(n) for s in gold["dev"]), predicted(pipeline, n, changed))
            for n in ("upos", "xpos")
        )
        other.append(f"| {name} | | | {' | '.join(percent(sum(f) / len(f)) for f in found)} | |")
    text = raw_text_of(gold["test"])
    words = sum(map(len, gold["test"]))
    training = [model.training for model in pipeline.models]
    everyday_all, everyday_kinds = everyday_scores(pipeline)
    ewt = sentences_of(data.ewt("train"))
    names = score(pipeline.tagger("misc.NER"), sentences_of(data.names_of_ewt("dev")))
    origin = next((dict(each.origin) for m in pipeline.models for each in m.tables), {})
    head = "| | tokens | sentences | words | UPOS | XPOS | UFeats | AllTags | lemmas |"
    return CARD.format(
        components=", ".join(pipeline.parts),
        upos_labels=len(pipeline.tagger("upos").labels),
        xpos_labels=len(pipeline.tagger("xpos").labels),
        mb=path.stat().st_size / 1e6,
        words_per_second=round(words / seconds_of(lambda: list(pipeline.sentences(text))), -3),
        load_ms=1000 * seconds_of(lambda: Pipeline.load(path)),
        cpu=machine()["cpu"],
        writer=pipeline.models[-1].writer,
        ewt_sentences=len(ewt),
        ewt_words=sum(map(len, ewt)),
        gum_documents=data.gum.count("# newdoc"),
        gum_words=sum(map(len, sentences_of(data.gum))),
        everyday_words=sum(map(len, sentences_of(data.everyday))),
        names_f1=percent(names.f1),
        other_names=sum(map(len, sentences_of(data.other_names))),
        listed=sum(map(len, pipeline.tagger("misc.NER").model.tables[1:])),
        everyday_all=everyday_all,
        everyday_kinds=everyday_kinds,
        classes=origin.get("classes", 0),
        raw_tokens=int(origin.get("tokens", 0)),
        table=table(head, rows),
        genres=table(
            "| genre | words | UPOS | unknown | XPOS |",
            genre_rows(pipeline, gold["dev"] + gold["test"]),
        ),
        other=table("| | tokens | sentences | UPOS | XPOS | lemmas |", other),
        sample_words=sum(map(len, sample)),
        conll_words=len(same),
        confusions=table(
            "| column | gold | found | % of the errors | words |",
            confusion_rows(pipeline, gold["dev"]),
        ),
        **known_errors(pipeline, gold["dev"]),
        epochs=f"{min(t['epochs'] for t in training)} to {max(t['epochs'] for t in training)}",
    )


def segmented(text: Sequence[Model], raw: Path, folder: str) -> Path:
    """Write raw text to a file in a folder: a sentence a line, spaces between its tokens."""
    words = Path(folder) / "words.txt"
    with words.open("wb") as file:
        file.write(lzma.decompress((raw / "english-open.txt.xz").read_bytes()))
        untokenized = read(raw / "english-open-2.txt.xz", "text")
        sentences = Pipeline(text).segmented(untokenized, paragraphs="blank")
        file.writelines(tag_text([], sentences, "tokens"))
    return words


def with_text(data: EnglishData) -> Sequence[Model]:
    """Train tokens, sentences and words."""
    labels = [*TEXT_COMPONENTS]
    text = sentences_of(data.text)
    return seqtag.train(text, label=labels, dropout=SEGMENTER_DROPOUT, runs=RUNS).models


def with_tags(text: Sequence[Model], data: EnglishData, raw: Path) -> list[Model]:
    """Train tags and lemmas, and add them to the components that segment text."""
    with TemporaryDirectory() as folder:
        words = segmented(text, raw, folder)
        found = seqtag.learn_classes(words, classes=CLASSES, passes=PASSES, format="tokens")
    tables = [found.table("open", "english-open")]
    labels = [name for name in COMPONENTS if name not in TEXT_COMPONENTS]
    tags = seqtag.train(
        sentences_of(data.tags), label=labels, tables=tables, min_count=MIN_COUNT, runs=RUNS
    )
    return [*text, *tags.models]


def with_names(others: Sequence[Model], data: EnglishData, raw: Path, lists: Path) -> Pipeline:
    """Train names and add them to the other components."""
    with TemporaryDirectory() as folder:
        words = segmented(others[: len(TEXT_COMPONENTS)], raw, folder)
        with words.open(encoding="utf-8") as sentences:
            tables = name_tables(sentences, lists)
    classes = next(table for model in others for table in model.tables)
    learn = partial(seqtag.train, label="misc.NER", min_count=NAME_MIN_COUNT, runs=NAME_RUNS)
    names = learn(sentences_of(data.all_names), tables=[classes, *tables], templates=NAME_TEMPLATES)
    names = learn(sentences_of(data.names), init=names, epochs=LAST_EPOCHS)
    return Pipeline([*others, names.model])


def main() -> None:
    """Train, save, measure, and write the card."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", type=Path)
    parser.add_argument("raw", type=Path)
    parser.add_argument("gazetteers", type=Path)
    parser.add_argument("--out", type=Path, default=ROOT / "models")
    parser.add_argument("--only", choices=("tags", "names", "card"))
    options = parser.parse_args()
    path = options.out / "en.seqtag"
    data = EnglishData(options.corpora)
    if options.only != "card":
        there = Pipeline.load(path).models if options.only else []
        others = there[:-1]
        if options.only != "names":
            text = there[: len(TEXT_COMPONENTS)] or with_text(data)
            others = with_tags(text, data, options.raw)
        with_names(others, data, options.raw, options.gazetteers).save(path)
    card = card_of(path, data)
    (options.out / "en.md").write_text(card, encoding="utf-8")
    print(card)


if __name__ == "__main__":
    main()
