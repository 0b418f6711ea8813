"""What is degenerate, dropped or unused is named: a table of files, commands and messages."""

from __future__ import annotations

import json

import pytest

import seqtag
from tests.command_line import call  # noqa: F401  (a fixture)

NAMES = "Mira B-PER\nFalk I-PER\nvisited O\nNorvale B-LOC\n. O\n\n"
HEAD = "0\troot\t_\t_"


def conllu(*rows):
    """A sentence of form, lemma and UPOS."""
    lines = [
        f"{i}\t{form}\t{lemma}\t{upos}\t_\t_\t{HEAD}"
        for i, (form, lemma, upos) in enumerate(rows, 1)
    ]
    return "\n".join([*lines, "", ""])


FILES = {
    "names.txt": 12 * NAMES,
    "only-o.txt": 12 * NAMES.replace("B-PER", "O").replace("I-PER", "O").replace("B-LOC", "O"),
    "one-tag.conllu": 6 * conllu(("Dogs", "dog", "NOUN"), ("bark", "bark", "NOUN")),
    "one-each.conllu": 6 * conllu(("Dogs", "x", "NOUN"), ("bark", "x", "NOUN")),
    "weights.txt": "Dogs\tmany\t0,000000\nbark\tnow\t0,000000\n\n" * 6,
}
TOKENS = ["Mira", "Falk", "visited", "Norvale", "."]
LABELS = ["B-PER", "I-PER", "O", "B-LOC", "O"]


def lines(*of_one, column="ner_tags"):
    """JSON lines of one sentence, eight times with its labels and then with others."""
    rows = [*8 * [LABELS], *of_one]
    return "".join(json.dumps({"tokens": TOKENS, column: each}) + "\n" for each in rows)


FILES |= {
    "strings.jsonl": lines(),
    "null.jsonl": lines(None, []),
    "long.jsonl": lines([*LABELS, "O"]),
    "first-long.jsonl": "".join(reversed(lines([*LABELS, "O"]).splitlines(keepends=True))),
    "one-number.jsonl": lines([3, *LABELS[1:]]),
    "text.jsonl": lines("B-PER"),
    "numbers.jsonl": lines().replace('"B-PER"', "1").replace('"I-PER"', "2").replace('"O"', "0")
    .replace('"B-LOC"', "3"),
}  # fmt: skip
FILES |= {
    "long.txt": 30 * "Mira\tNNP\nvisited\tVBD\nNorvale\tNNP\n.\tSENT\n",
    "tree.txt": 6 * "Mira\tNNP\tMira\nvisited\tVBD\tvisit\nNorvale\tNNP\tNorvale\n.\tSENT\t.\n",
    "unknown.txt": 6 * "Mira\tNNP\t<unknown>\nsaw\tVBD\tsee\nit\tPRP\tit\nred\tJJ\tred\nran\tVBD\trun\n",
    "borders.txt": "-DOCSTART- O\n".join(["", *5 * [2 * NAMES.replace("\n\n", "\n")]]),
    "blank.conllu": conllu(("Dogs", "dog", "NOUN"), ("bark", "bark", "VERB "))
    + 2 * conllu(("Dogs", "dog", "NOUN "), ("bark", "bark", "VERB"), ("Cats", "cat", "NOUN")),
    "typo.conllu": conllu(("Dogs", "dog", "NUON"))
    + 50 * conllu(("Dogs", "dog", "NOUN"), ("bark", "bark", "VERB")),
    "lemmas.conllu": conllu(("Dogs", "_", "NOUN"), ("bark", "bark", "VERB")),
    "other-lemmas.conllu": conllu(("Dogs", "dog", "NOUN"), ("bark", "barks", "VERB")),
}  # fmt: skip
NUMBERS = "O,B-PER,I-PER,B-LOC"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files, and a model."""
    folder = tmp_path_factory.mktemp("told")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    seqtag.train(folder / "names.txt", epochs=3).save(folder / "names.seqtag")
    return folder


REFUSED = [  # the command; what is said
    ("train only-o.txt", "only-o.txt: expected several labels in the column ner, found 'O' for "
     "every word: nothing to learn; check that the layer was exported"),
    ("train one-tag.conllu", "the column upos, found 'NOUN' for every word: nothing to learn"),
    ("train weights.txt", "the column 3, found '0,000000' for every word: nothing to learn"),
    ("cv only-o.txt --folds 2", "found 'O' for every word: nothing to learn"),
    ("train one-each.conllu --label upos,lemma", "expected several labels in one of the columns "
     "upos, lemma, found one in each"),
    ("train numbers.jsonl", "numbers.jsonl: expected a column of labels, found the columns form "
     "only; ner_tags: expected labels, found the number 1; name the numbers with --names O,B-PER"),
    ("train numbers.jsonl --label ner_tags", "name the numbers with --names O,B-PER"),
    ("train numbers.jsonl --names O,B-PER", "found the number 2; --names has 2 names"),
    ("train null.jsonl", 'null.jsonl:9: expected a label in the column ner_tags, found "_"'),
    ("train long.jsonl", "long.jsonl:9: ner_tags: expected 5 labels, one for each token, found 6"),
    ("train first-long.jsonl", "first-long.jsonl:1: ner_tags: expected 5 labels, one for each"),
    ("train one-number.jsonl", "one-number.jsonl:9: ner_tags: expected labels, found the number 3; "
     "correct it"),
    ("train text.jsonl", "text.jsonl:9: ner_tags: expected 5 labels, one for each token, found "
     "'B-PER'"),
    ("info tree.txt --sentences restart", "expected a column of ids for the end of sentences, "
     "restart, found form, pos, lemma; name it id with --columns"),
    ("eval -m names.seqtag strings.jsonl", "or choose another column with --label ner_tags"),
    ("eval -m names.seqtag numbers.jsonl", "name the numbers with --names O,B-PER"),
    ("eval -m names.seqtag numbers.jsonl --label ner_tags", "numbers.jsonl:1: ner_tags: expected "
     "labels, found the number 1; name the numbers with --names O,B-PER"),
]  # fmt: skip
NOTED = [
    ("train one-tag.conllu --label upos,lemma", "the column upos is 'NOUN' everywhere: nothing to learn"),
    ("train names.txt --dev only-o.txt", "every word of the dev set has the label 'O'"),
    ("train only-o.txt --init names.seqtag", ""),
    ("eval -m names.seqtag only-o.txt", "the gold column ner has no chunk"),
    ("eval one-tag.conllu one-tag.conllu --label upos", "every gold label in the column upos is "
     "'NOUN', so that the score says nothing; was the layer exported?"),
    ("train long.txt", "long.txt: a sentence of 120 words: are blank lines between sentences missing?"),
    ("train tree.txt --sentences EOSS", "tree.txt: --sentences 'EOSS' never occurs in the sample"),
    ("train tree.txt --sentences lema", "tree.txt: --sentences 'lema' never occurs in the sample"),
    ("train tree.txt --sentences <s>", "tree.txt: --sentences '<s>' never occurs in the sample"),
    ("train names.txt --comment @@", "names.txt: --comment '@@' never occurs in the sample"),
    ("eval -m names.seqtag names.txt --outside XX", "names.txt: --outside 'XX' never occurs in"),
    ("train names.txt --unlabeled learn-around=XX", "no word has the label 'XX'"),
    ("train strings.jsonl --names O,B-PER", "strings.jsonl: no labels of the sample are numbers, to"),
    ("train names.txt --names O,B-PER", "names.txt: no labels of the sample are numbers, to use"),
    ("train blank.conllu", "blank.conllu:2: the label 'VERB ' in the column upos (1 word) is another "
     "than 'VERB'; remove the blank"),
    ("train typo.conllu", "typo.conllu:1: parts of speech that Universal Dependencies does not have: "
     "'NUON' (1 word); correct them"),
    ("train typo.conllu --label upos,lemma", "typo.conllu:1: parts of speech that"),
    ("train blank.conllu --label upos,lemma", "blank.conllu:4: the label 'NOUN ' in the column upos "
     "(2 words) is another"),
]  # fmt: skip


def arguments(line):
    """The arguments of a command; those of train have an output."""
    args = line.split()
    return [*args, "-o", "new.seqtag", "--force"] if args[0] == "train" else args


@pytest.mark.parametrize(("line", "message"), REFUSED, ids=[line for line, _ in REFUSED])
def test_what_cannot_be_right_is_refused(line, message, folder, call, monkeypatch):  # noqa: F811
    monkeypatch.chdir(folder)
    done = call(*arguments(line))
    assert done.code == 1
    assert message in done.err


@pytest.mark.parametrize(("line", "message"), NOTED, ids=[line for line, _ in NOTED])
def test_what_is_odd_is_noted(line, message, folder, call, monkeypatch):  # noqa: F811
    monkeypatch.chdir(folder)
    done = call(*arguments(line))
    assert done.code == 0, done.err
    assert f"note: {message}" in done.err or not message


def test_numbers_with_names_are_labels(folder, call, monkeypatch):  # noqa: F811
    monkeypatch.chdir(folder)
    expected = seqtag.train("strings.jsonl").model.labels
    assert seqtag.train("numbers.jsonl", names=NUMBERS.split(",")).model.labels == expected
    by_column = {"ner_tags": NUMBERS.split(",")}
    assert seqtag.train("numbers.jsonl", names=by_column).model.labels == expected
    assert call("train", "numbers.jsonl", "--names", NUMBERS, "-o", "by.seqtag").code == 0
    report = call("eval", "-m", "by.seqtag", "numbers.jsonl", "--names", NUMBERS)
    assert report.out == call("eval", "-m", "by.seqtag", "strings.jsonl").out
    kept = call("tag", "-m", "by.seqtag", "numbers.jsonl", "--keep", "--names", NUMBERS)
    assert kept.out.decode() == FILES["strings.jsonl"]


def test_sentences_without_labels_are_left_out(folder, call, monkeypatch):  # noqa: F811
    monkeypatch.chdir(folder)
    done = call("train", "null.jsonl", "--unlabeled", "skip", "-o", "skip.seqtag")
    assert "8 sentences, 40 words; jsonl: form, ner_tags" in done.notes[-1]
    tagged = call("tag", "-m", "skip.seqtag", "null.jsonl", "--keep").out.decode()
    assert tagged == lines(LABELS, LABELS)


def test_options_that_match_are_not_noted(folder, call, monkeypatch):  # noqa: F811
    monkeypatch.chdir(folder)
    text = f"# Norvale\n{FILES['tree.txt']}".replace("Mira\t", "<s>\nMira\t").replace("SENT", "EOS")
    (folder / "marks.txt").write_text(text)
    for options in ("--sentences EOS --comment #", "--sentences <s>", "--sentences pos"):
        assert "never occurs" not in call("info", "marks.txt", *options.split()).err
    assert "never" not in call("info", "names.txt", "--outside", "O", "--comment", "none").err


def test_a_tag_ends_sentences(folder):
    tree = seqtag.read(folder / "tree.txt", sentences="SENT")
    assert tree.layout.describe().endswith("form, pos, lemma; sentences by pos=SENT")
    assert [sentence.words for sentence in tree] == 6 * [["Mira", "visited", "Norvale", "."]]
    again = seqtag.read(folder / "tree.txt", sentences="pos=SENT")
    assert "".join(sentence.raw for sentence in again) == FILES["tree.txt"]


def test_unknown_lemmas_do_not_hide_the_tags(folder):
    assert seqtag.sniff(folder / "unknown.txt").columns == ("form", "pos", "lemma")


def test_a_border_of_documents_needs_no_blank_line(folder, call, monkeypatch):  # noqa: F811
    monkeypatch.chdir(folder)
    text = FILES["borders.txt"]
    sentences = [*seqtag.read("borders.txt")]
    assert "".join(sentence.raw for sentence in sentences) == text
    assert [len(sentence) for sentence in sentences] == 5 * [10]
    assert sentences[1].raw.startswith("-DOCSTART- O\nMira")
    assert call("tag", "-m", "names.seqtag", "borders.txt").out.decode() == text
    assert b"by:document|units:5" in call("cv", "borders.txt", "--folds", "5").out


def test_lemmas_that_are_not_annotated_are_not_scored(folder, call, monkeypatch):  # noqa: F811
    monkeypatch.chdir(folder)
    done = call("eval", "lemmas.conllu", "other-lemmas.conllu", "--label", "lemma", "--json")
    report = json.loads(done.out)
    assert (report["tokens"], report["accuracy"]) == (1, 0)


def test_features_of_a_dataset_name_its_numbers():
    arrow, data = pytest.importorskip("pyarrow"), pytest.importorskip("datasets")
    label = data.Sequence(data.ClassLabel(names=NUMBERS.split(",")))
    features = data.Features({"tokens": data.Sequence(data.Value("string")), "ner_tags": label})
    columns = {"tokens": 10 * [TOKENS], "ner_tags": 10 * [[1, 2, 0, 3, 0]]}
    dataset = data.Dataset.from_dict(columns, features=features)
    table = arrow.table(columns, schema=features.arrow_schema)  # as in Parquet of the Hub
    for each in (dataset, table):
        assert seqtag.train(each, label="ner_tags").labels == ("B-LOC", "B-PER", "I-PER", "O")


@pytest.mark.parametrize(
    ("tried", "message"),
    [
        ("tempaltes=ner", "found 'tempaltes' (did you mean 'templates'?)"),
        ("templates=ner,nosuch", "of the name 'nosuch'"),
        ("epochs=1,0", "found 0"),
        ("runs=0", "expected a whole number from 1, found '0'"),
        ("table=none,no.tsv", "no.tsv: No such file"),
    ],
)
def test_what_cannot_be_tried_is_refused_first(tried, message, folder, call, monkeypatch):  # noqa: F811
    monkeypatch.chdir(folder)
    done = call("tune", "names.txt", "--try", tried)
    assert message in done.err
    assert not done.out


def test_seeds_runs_and_tables_are_tried(folder, call, monkeypatch):  # noqa: F811
    monkeypatch.chdir(folder)
    (folder / "places.tsv").write_text("word\tkind\nNorvale\tplace\n")
    options = ("--folds", "2", "--epochs", "2")
    tries = ("--try", "runs=1,2", "--try", "table=none,places.tsv")
    done = call("tune", "names.txt", *tries, "--seeds", "2", *options)
    assert done.code == 0, done.err
    lines = done.out.decode().splitlines()
    assert len(lines) == 4
    assert all(" +- 0.00  --runs " in line for line in lines)
    done = call("cv", "names.txt", "--seeds", "3", *options)
    assert b"(mean and standard deviation of 3 seeds)" in done.out
    assert done.err.count("seqtag: seed ") == 3


def test_the_model_of_several_runs_is_scored(folder, call, monkeypatch):  # noqa: F811
    monkeypatch.chdir(folder)
    (folder / "bare.txt").write_text("form[0]\n")
    how = ("--dev", "names.txt", "--templates", "bare.txt", "--runs", "2", "--epochs", "3")
    done = call("train", "names.txt", *how, "-o", "runs.seqtag")
    assert "seqtag: average of 2 runs: dev conlleval-f1 100.00\n" in done.err
    assert "note: bare.txt: no lines such as set epochs 10, so that it has epochs 3, " in done.err
