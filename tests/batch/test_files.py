"""One file tagged, once."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import gzip
import json
import os
import pickle
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

import seqtag
from seqtag.batch import files
from seqtag.batch.files import FileResult, Models, tag_file
from seqtag.errors import CorpusError, ModelFileError, SeqtagError
from seqtag.tagging.streams import TagOptions
from tests.command_line import SENTENCES, call, conllu, home, linux

WORDS = sum(len(sentence.split()) for sentence in SENTENCES)


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """A folder to work in, with a file whose time of change is long ago."""
    monkeypatch.chdir(tmp_path)
    Path("in.conllu").write_text(conllu(labels=False))
    age("in.conllu")
    return tmp_path


def age(path: str, seconds: float = 100.0) -> None:
    """Let a file have been changed some time ago."""
    then = Path(path).stat().st_mtime - seconds
    os.utime(path, (then, then))


def names(folder: str) -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir())


@pytest.fixture
def model(home) -> Path:
    return home / "upos.seqtag"


def tag(model, **options) -> FileResult:
    return tag_file("in.conllu", "out/in.conllu", model, TagOptions(**options))


def manifest() -> dict:
    return json.loads(Path("out/in.conllu.done").read_text())


def test_the_bytes_are_those_of_the_command_line(place, model, call):
    call("tag", "-m", model, "in.conllu", "-o", "as-told.conllu")
    result = tag(model)
    assert Path("out/in.conllu").read_bytes() == Path("as-told.conllu").read_bytes()
    assert (result.status, result.reason, result.format) == ("tagged", "new", "conllu")
    assert (result.sentences, result.tokens) == (len(SENTENCES), WORDS)
    assert result.bytes_read == Path("in.conllu").stat().st_size
    assert result.bytes_written == Path("out/in.conllu").stat().st_size


def test_a_file_is_tagged_once(place, model):
    first = tag(model)
    before = Path("out/in.conllu").stat()
    second = tag(model)
    assert (second.status, second.reason) == ("skipped", "")
    assert (second.sentences, second.tokens) == (first.sentences, first.tokens)
    assert Path("out/in.conllu").stat().st_ino == before.st_ino
    assert names("out") == ["in.conllu", "in.conllu.done"]


def test_a_file_that_is_known_by_its_stamp_is_not_read(place, model, monkeypatch):
    tag(model)
    monkeypatch.setattr(files, "digest_of", lambda _: pytest.fail("read for nothing"))
    assert tag(model).status == "skipped"


def test_a_copy_of_the_input_is_known_by_its_digest(place, model):
    tag(model)
    os.utime("in.conllu")
    assert tag(model).status == "skipped"
    shutil.copy("in.conllu", "moved.conllu")
    assert tag_file("moved.conllu", "out/in.conllu", model).status == "skipped"


def test_a_change_as_long_and_as_old_as_a_fresh_input_is_noticed(place, model):
    os.utime("in.conllu")  # just now
    tag(model)
    before = Path("in.conllu").stat()
    with Path("in.conllu").open("r+") as file:
        file.write(Path("in.conllu").read_text().replace("barks", "sings"))
    os.utime("in.conllu", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert tag(model).reason == "input"


def test_what_is_another_than_before_is_tagged_anew(place, model, home, monkeypatch):
    tag(model)
    Path("in.conllu").write_text(conllu(SENTENCES[:2], labels=False))
    assert tag(model).reason == "input"
    assert manifest()["sentences"] == 2
    assert tag(model, to="tagged").reason == "options"
    assert Path("out/in.conllu").read_text().startswith("the/DET dog/NOUN barks/VERB")
    assert tag(home / "xpos.seqtag", to="tagged").reason == "model"
    assert Path("out/in.conllu").read_text().startswith("the/DT ")
    Path("out/in.conllu").write_text("cut")
    assert tag(home / "xpos.seqtag", to="tagged").reason == "output"
    Path("out/in.conllu").unlink()
    assert tag(home / "xpos.seqtag", to="tagged").reason == "output"
    monkeypatch.setattr(files, "__version__", "99.0")
    assert tag(home / "xpos.seqtag", to="tagged").reason == "version"
    assert tag(home / "xpos.seqtag", to="tagged").status == "skipped"


@pytest.mark.parametrize("found", ["", "{}", "[1]", '"manifest"', "{", "\xff"])
def test_a_manifest_that_is_none_counts_for_nothing(place, model, found):
    tag(model)
    Path("out/in.conllu.done").write_bytes(found.encode("latin-1"))
    assert tag(model).reason == "new"


def test_a_model_that_is_replaced_is_read_again(place, home, tmp_path):
    path = tmp_path / "my.seqtag"
    shutil.copy(home / "upos.seqtag", path)
    age(path)
    first = Models.of(path)
    assert Models.of(path) is first
    shutil.copy(home / "xpos.seqtag", tmp_path / "new.seqtag")
    (tmp_path / "new.seqtag").replace(path)
    assert Models.of(path).digests != first.digests
    tag(path)
    assert manifest()["model"] == list(Models.of(home / "xpos.seqtag").digests)


def test_models_by_path_and_loaded_are_the_same(place, model, home):
    tag(model)
    assert tag(seqtag.load(model)).status == "skipped"
    assert tag(Models.of(model)).status == "skipped"
    assert tag([model, home / "xpos.seqtag"]).reason == "model"
    assert tag([seqtag.load(model), home / "xpos.seqtag"]).status == "skipped"
    assert Path("out/in.conllu").read_text().split("\n")[1].split("\t")[3:5] == ["DET", "DT"]


def test_a_pipeline_that_hides_a_part_is_another(place):
    pipeline = seqtag.load("en")
    pipeline.save("en.seqtag")  # the embedded file may be of another version
    whole = Models.of(pipeline).digests
    assert Models.of(pipeline.only("lemma")).digests != whole
    assert Models.of(seqtag.load("en")).digests == whole == Models.of("en.seqtag").digests
    hidden, shown = pipeline.only("lemma"), pipeline.only("lemma", "upos")
    assert Models.of(hidden).digests != Models.of(shown).digests
    component = Models.of("en-ewt-xpos").digests
    assert component != whole
    assert component == Models.of(seqtag.load("en-ewt-xpos")).digests


def test_units_and_results_pickle(place, model):
    models = pickle.loads(pickle.dumps(Models.of(model)))
    function, options = pickle.loads(pickle.dumps((tag_file, TagOptions(to="jsonl"))))
    result = function("in.conllu", "out/in.jsonl", models, options)
    assert pickle.loads(pickle.dumps(result)) == result
    assert function("in.conllu", "out/in.jsonl", model, options).status == "skipped"


def test_compression_in_and_out(place, model):
    Path("in.conllu.gz").write_bytes(gzip.compress(Path("in.conllu").read_bytes()))
    result = tag_file("in.conllu.gz", "out.conllu.gz", model)
    tag(model)
    assert gzip.decompress(Path("out.conllu.gz").read_bytes()) == Path("out/in.conllu").read_bytes()
    assert result.bytes_written == Path("out.conllu.gz").stat().st_size


def test_bytes_behind_the_last_sentence_are_digested(place, model):
    packed = gzip.compress(Path("in.conllu").read_bytes())
    Path("in.conllu").write_bytes(packed + bytes(100_000))  # padding, as on tapes
    tag(model)
    assert manifest()["input"]["sha256"] == files.digest_of(files.place_of("in.conllu"))


def test_an_error_leaves_what_was_there(place, model):
    tag(model)
    before = Path("out/in.conllu").read_bytes(), Path("out/in.conllu.done").read_bytes()
    with Path("in.conllu").open("a") as file:
        file.write("1\tshort\n")
    with pytest.raises(CorpusError, match="expected 10 tab-separated columns"):
        tag(model)
    assert before == (Path("out/in.conllu").read_bytes(), Path("out/in.conllu.done").read_bytes())
    assert names("out") == ["in.conllu", "in.conllu.done"]


def test_killed_before_the_manifest_it_begins_again(place, model, monkeypatch):
    tag(model)

    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(files, "json", SimpleNamespace(loads=json.loads, dumps=killed))
        with pytest.raises(KeyboardInterrupt):
            tag(model, to="tagged")
    assert Path("out/in.conllu").read_text().startswith("the/DET")
    assert not Path("out/in.conllu.done").exists()  # never one that speaks of another file
    assert tag(model, to="tagged").reason == "new"


def test_what_cannot_be_done_is_said(place, model):
    with pytest.raises(CorpusError, match=r"in.conllu: expected an output file other than the"):
        tag_file("in.conllu", "in.conllu", model)
    with pytest.raises(FileNotFoundError) as missing:
        tag_file("none.conllu", "out.conllu", model)
    assert missing.value.filename == "none.conllu"
    with pytest.raises(FileNotFoundError, match="the embedded models are en, en-ewt-upos") as none:
        tag_file("in.conllu", "out.conllu", "none.seqtag")
    assert none.value.filename == "none.seqtag"
    with pytest.raises(ModelFileError, match=r"^in.conllu: "):
        tag_file("in.conllu", "out.conllu", "in.conllu")
    with pytest.raises(SeqtagError, match="expected one of the components upos, found 'xpos'"):
        tag(model, only=["xpos"])
    assert names(".") == ["in.conllu"]


def test_a_process_keeps_the_last_models_only(monkeypatch):
    monkeypatch.setattr(files, "_kept", type(files._kept)())
    monkeypatch.setattr(files, "_MAX_KEPT", 2)
    made = []

    def load(name):
        made.append(name)
        return Models([], [name])

    for name in ("a", "b", "a", "c", "a", "b"):
        files.kept((name,), lambda name=name: load(name))
    assert made == ["a", "b", "c", "b"]


@pytest.mark.parametrize(
    "change",
    [
        {"format": None},
        {"format": []},
        {"input": None},
        {"input": {}},
        {"input": {"name": "in.conllu", "bytes": 1, "stamp": None}},
        {"output": {"bytes": "1"}},
        {"sentences": "1"},
        {"tokens": True},
    ],
)
def test_a_manifest_that_is_damaged_counts_for_nothing(place, model, change):
    tag(model)
    whole = manifest()
    Path("out/in.conllu.done").write_text(json.dumps(whole | change))
    assert tag(model).reason == "new"
    assert manifest()["sentences"] == whole["sentences"]


@pytest.mark.parametrize("missing", ["tokens", "options", "manifest"])
def test_a_manifest_with_a_field_less_counts_for_nothing(place, model, missing):
    tag(model)
    whole = manifest()
    del whole[missing]
    Path("out/in.conllu.done").write_text(json.dumps(whole))
    assert tag(model).reason == "new"


def test_a_manifest_that_is_deep_counts_for_nothing(place, model):
    tag(model)
    Path("out/in.conllu.done").write_text("[" * 100_000)
    assert tag(model).reason == "new"


@linux
def test_names_that_are_no_utf_8(place, model):
    odd = os.fsdecode(b"\xff.conllu")
    Path("in.conllu").rename(odd)
    assert tag_file(odd, f"out/{odd}", model).reason == "new"
    assert tag_file(odd, f"out/{odd}", model).status == "skipped"
    found = json.loads(Path(f"out/{odd}.done").read_bytes().decode())
    assert found["input"]["name"] == odd
