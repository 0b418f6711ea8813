"""What people type and bring first: it is understood, or the message says what to do."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import json
import shlex

import pytest

import seqtag
from seqtag.errors import ModelFileError
from tests.command_line import call, run

COMMANDS = {
    "tag 'Dogs bark.'": (
        "expected a file, found 'Dogs bark.', which is none; a text is given on standard input: "
        "echo 'Dogs bark.' | seqtag tag"
    ),
    "tag ''": "expected a file, found '', which is none; a text is given on standard input: ",
    "help tga": "expected a command, found 'tga' (did you mean 'tag'?)",
    "predict x.txt": "expected a command, found 'predict' (did you mean 'tag'?)",
    "download fr": "expected a command, found 'download' (did you mean 'models'?)",
}


@pytest.mark.parametrize("line", COMMANDS)
def test_what_cannot_be_right_is_refused_with_advice(line, call):
    done = call(*shlex.split(line))
    assert done.code and done.err.startswith(f"seqtag: {COMMANDS[line]}"), done.err


@pytest.mark.parametrize("command", ["", "tag", "models train"])
def test_help_is_a_command_too(command, call):
    done = call("help", *command.split())
    assert (done.code, done.out) == (0, call(*command.split(), "--help").out)


@pytest.mark.parametrize("text", [b"", b"\n", b"\n \n"])
def test_nothing_is_said_about_an_empty_input(text):
    assert run("tag", stdin=text) == (0, text, "", [])


def test_columns_that_the_format_leaves_out_are_named():
    done = run("tag", "--only", "upos,lemma", "--to", "tagged", stdin=b"Dogs bark.\n")
    assert done.out == b"Dogs/NOUN bark/VERB ./PUNCT\n"
    assert done.err == "seqtag: note: <stdin>: the format tagged has no room for lemma\n"


@pytest.mark.parametrize("to", ["tsv", "jsonl"])
def test_margins_are_written_into_tables_and_json(to):
    done = run("tag", "--only", "upos", "--label-margin", "--to", to, stdin=b"Dogs bark.\n")
    if to == "jsonl":
        sentence = json.loads(done.out)
        assert sentence["margin"] == [*map(int, sentence["margin"])]
    else:
        names, *rows = [line.split("\t") for line in done.out.decode().splitlines()]
        sentence = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    assert sentence["upos"] == ["NOUN", "VERB", "PUNCT"]
    assert min(map(int, sentence["margin"])) > 0


def test_texts_of_several_files_are_documents_with_their_names(tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("Dogs bark.\n")
    done = run("tag", "--only", "upos", "a.txt", "b.txt", cwd=tmp_path)
    heads = [line for line in done.out.decode().splitlines() if line.startswith("# newdoc")]
    assert heads == ["# newdoc id = a.txt", "# newdoc id = b.txt"]
    assert b"# newdoc\n" in run("tag", "--only", "upos", "a.txt", cwd=tmp_path).out


def test_how_lines_are_read_is_said_on_the_command_line_and_in_python(tmp_path, call, caplog):
    text = "Mira Falk\nTavo Odden\nLunet Rask\n"
    (tmp_path / "a.txt").write_text(text)
    done = call("tag", "--only", "upos", "--to", "tokens", tmp_path / "a.txt")
    said = "each line is read as a paragraph (short lines); if its lines are wrapped, use"
    assert (done.out.decode(), any(said in note for note in done.notes)) == (text, True)
    caplog.clear()
    caplog.set_level("INFO", "seqtag")
    assert len(seqtag.load()(text)) == 3
    assert f'{said} paragraphs="blank"' in caplog.text
    caplog.clear()
    assert len(seqtag.load()(text, paragraphs="blank")) == 1
    assert "paragraph" not in caplog.text


def test_text_in_a_file_with_another_ending_is_noted(tmp_path):
    (tmp_path / "a.txt").write_text("Dogs bark.\n")
    line = ["tag", "--only", "upos", "a.txt", "-o", "a.json"]
    assert "a.json: text is written as conllu, whatever the ending" in run(*line, cwd=tmp_path).err
    assert "whatever" not in run(*line, "--to", "jsonl", "--force", cwd=tmp_path).err


@pytest.mark.parametrize("label", ["ner", "misc.NER"])
def test_names_of_columns_are_scored_with_those_of_a_pipeline(label, tmp_path):
    (tmp_path / "a.bio").write_text(4 * "Mira\tB-PER\nFalk\tI-PER\nsings\tO\n.\tO\n\n")
    done = run("eval", "-m", "en", "a.bio", "--label", label, cwd=tmp_path)
    assert (done.code, b"chunks (iob2)" in done.out) == (0, True), done.err


@pytest.fixture(scope="module")
def half_models(tmp_path_factory):
    """Models of persons, and of organizations that may have the name of a person within."""
    folder = tmp_path_factory.mktemp("models")
    words = ["Mira", "Falk", "works", "for", "Norvale", "Falk", "Bank", "."]
    labels = {
        "per": ["B-PER", "I-PER", "O", "O", "O", "B-PER", "O", "O"],
        "org": ["O", "O", "O", "O", "B-ORG", "I-ORG", "I-ORG", "O"],
    }
    for name, column in labels.items():
        rows = "".join(f"{row[0]}\t{row[1]}\n" for row in zip(words, column, strict=True))
        (folder / f"{name}.bio").write_text(f"{rows}\n" * 20)
        assert not run("train", "-q", f"{name}.bio", "-o", f"{name}.seqtag", cwd=folder).code
    (folder / "words.txt").write_text(" ".join(words) + "\n")
    (folder / "words.tsv").write_text(3 * ("\n".join(words) + "\n\n"))
    return folder


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        ("per org", ["PER", "PER", "O", "O", "O", "PER", "O", "O"]),
        ("org per", ["PER", "PER", "O", "O", "ORG", "ORG", "ORG", "O"]),
    ],
)
@pytest.mark.parametrize("to", ["columns", "jsonl"])
def test_a_second_model_of_a_column_fills_what_is_outside(models, expected, to, half_models):
    given = [each for name in models.split() for each in ("-m", f"{name}.seqtag")]
    line = ["tag", "--format", "tokens", "--to", to, *given, "words.txt"]
    done = run(*line, cwd=half_models)
    assert done.err.startswith("seqtag: note: ner: filled by 2 models, the later ones where")
    if to == "jsonl":
        labels = json.loads(done.out)["ner"]
    else:
        labels = [row.split("\t")[1] for row in done.out.decode().splitlines() if row]
    assert [label.rpartition("-")[2] for label in labels] == expected


def test_a_pipeline_has_one_model_of_a_column(half_models):
    models = [seqtag.load(half_models / f"{name}.seqtag").model for name in ("per", "org")]
    with pytest.raises(ModelFileError, match="expected models of different columns in a file, fo"):
        seqtag.Pipeline(models)


def test_a_key_of_misc_is_the_column_of_its_name(half_models, call):
    for models in (["-m", "en", "-m", "per.seqtag"], ["-m", "per.seqtag", "-m", "en"]):
        done = run(
            "tag", *models, "--format", "tokens", "--to", "conllu", "words.txt", cwd=half_models
        )
        rows = done.out.decode().casefold().splitlines()[1:9]
        assert max(row.count("ner=") for row in rows) == 1
        assert "filled by 2 models" in done.err
    done = run("tag", "-m", "en", "-m", "per.seqtag", "words.tsv", cwd=half_models)
    assert done.notes[-1].endswith("behind the last one comes upos, xpos, feats, lemma, misc.NER")
    done = run("bundle", "en", "per.seqtag", "-o", "both.seqtag", cwd=half_models)
    assert "expected models of different columns in a file, found 2 for 'misc.NER'" in done.err


def test_a_label_that_is_kept_has_no_margin(half_models):
    (half_models / "some.jsonl").write_text(
        '{"tokens": ["Dogs", "bark"], "upos": ["NOUN", null]}\n'
    )
    line = ["tag", "--only", "upos", "--keep", "--label-margin", "some.jsonl"]
    [kept, found] = json.loads(run(*line, cwd=half_models).out)["margin"]
    assert kept is None
    assert found > 0


def test_two_models_of_a_column_without_chunks_are_refused(call):
    done = call("tag", "-m", "en", "-m", "en", "--only", "upos")
    assert done.code == 2
    assert "expected models of different columns, found 2 for upos" in done.err


def test_commas_are_text_unless_the_file_is_called_so(tmp_path):
    text = b"Mira,B-PER\nsleeps,O\n\nTavo,B-PER\nsits,O\n"
    for name in ("notes.txt", "table.csv"):
        (tmp_path / name).write_bytes(text)
    done = run("tag", "--only", "upos", "--to", "tokens", "table.csv", cwd=tmp_path)
    assert done.out == b"Mira sleeps\nTavo sits\n"
    assert "read as columns form ner" in done.notes[0]
    done = run("tag", "--only", "upos", "--to", "tokens", "notes.txt", cwd=tmp_path)
    assert done.out.startswith(b"Mira , B")


def test_lists_of_words_are_texts_and_a_note_says_how_they_become_sentences():
    words = b"Dogs\nbark\n.\n"
    done = run("tag", "--only", "upos", "--to", "tokens", stdin=words)
    assert done.out == words
    assert "if they are the words of sentences, use --format columns)" in done.notes[0]
    done = run("tag", "--only", "upos", "--to", "tokens", "--format", "columns", stdin=words)
    assert done.out == b"Dogs bark .\n"


@pytest.mark.parametrize("text", ["The DT B-NP\ndog NN I-NP\n", "dog,NN\ncat,NN\n"])
def test_a_text_in_python_is_never_a_table(text):
    assert len(seqtag.load("en")(text).words) > 5
