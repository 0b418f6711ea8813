"""One file tagged, once."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import gzip
import hashlib
import os
import pickle
import shutil
from pathlib import Path

import pytest

import seqtag
from seqtag.batch import files
from seqtag.batch.files import FileResult, Models, tag_file
from seqtag.errors import CorpusError, ModelFileError
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


def tag(model, before: FileResult | None = None, **options) -> FileResult:
    return tag_file("in.conllu", "out/in.conllu", model, TagOptions(**options), before=before)


def sha256(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def test_the_bytes_are_those_of_the_command_line(place, model, call):
    call("tag", "-m", model, "in.conllu", "-o", "as-told.conllu")
    result = tag(model)
    assert Path("out/in.conllu").read_bytes() == Path("as-told.conllu").read_bytes()
    assert (result.status, result.reason, result.format) == ("tagged", "new", "conllu")
    assert (result.sentences, result.tokens) == (len(SENTENCES), WORDS)
    assert result.bytes_read == Path("in.conllu").stat().st_size
    assert result.bytes_written == Path("out/in.conllu").stat().st_size
    assert result.sha256_read == sha256("in.conllu")
    assert result.sha256_written == sha256("out/in.conllu")
    assert names("out") == ["in.conllu"]


def test_a_file_is_tagged_once(place, model):
    first = tag(model)
    before = Path("out/in.conllu").stat()
    second = tag(model, first)
    assert (second.status, second.reason) == ("skipped", "")
    assert (second.sentences, second.tokens) == (first.sentences, first.tokens)
    assert Path("out/in.conllu").stat().st_ino == before.st_ino
    assert tag(model).status == "tagged"


def test_a_file_that_is_known_by_its_stamp_is_not_read(place, model, monkeypatch):
    before = tag(model)
    monkeypatch.setattr(files, "digest_of", lambda _: pytest.fail("read for nothing"))
    assert tag(model, before).status == "skipped"


def test_a_copy_of_the_input_is_known_by_its_digest(place, model):
    before = tag(model)
    os.utime("in.conllu")
    assert tag(model, before).status == "skipped"
    shutil.copy("in.conllu", "moved.conllu")
    again = tag_file("moved.conllu", "out/in.conllu", model, before=before)
    assert (again.status, again.source) == ("skipped", "moved.conllu")


def test_a_touched_input_is_digested_once(place, model, monkeypatch):
    before, read = tag(model), []
    digest_of = files.digest_of
    monkeypatch.setattr(files, "digest_of", lambda name: read.append(name) or digest_of(name))
    age("in.conllu", 50)
    before = tag(model, before)
    assert (before.status, read) == ("skipped", ["in.conllu"])
    assert (tag(model, before).status, read) == ("skipped", ["in.conllu"])


def test_a_change_as_long_and_as_old_as_a_fresh_input_is_noticed(place, model):
    os.utime("in.conllu")  # just now
    result = tag(model)
    before = Path("in.conllu").stat()
    with Path("in.conllu").open("r+") as file:
        file.write(Path("in.conllu").read_text().replace("barks", "sings"))
    os.utime("in.conllu", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert tag(model, result).reason == "input"


def test_what_is_another_than_before_is_tagged_anew(place, model, home, monkeypatch):
    last = tag(model)

    def again(model, **options) -> str:
        nonlocal last
        last = tag(model, last, **options)
        return last.reason

    Path("in.conllu").write_text(conllu(SENTENCES[:2], labels=False))
    assert again(model) == "input"
    assert last.sentences == 2
    assert again(model, to="tagged") == "options"
    assert Path("out/in.conllu").read_text().startswith("the/DET dog/NOUN barks/VERB")
    assert again(home / "xpos.seqtag", to="tagged") == "model"
    assert Path("out/in.conllu").read_text().startswith("the/DT ")
    Path("out/in.conllu").write_text("cut")
    assert again(home / "xpos.seqtag", to="tagged") == "output"
    Path("out/in.conllu").unlink()
    assert again(home / "xpos.seqtag", to="tagged") == "output"
    monkeypatch.setattr(files, "__version__", "99.0")
    assert again(home / "xpos.seqtag", to="tagged") == "version"
    assert again(home / "xpos.seqtag", to="tagged") == ""


def test_a_model_that_is_replaced_is_read_again(place, home, tmp_path):
    path = tmp_path / "my.seqtag"
    shutil.copy(home / "upos.seqtag", path)
    age(path)
    first = Models.of(path)
    assert Models.of(path) is first
    shutil.copy(home / "xpos.seqtag", tmp_path / "new.seqtag")
    (tmp_path / "new.seqtag").replace(path)
    assert Models.of(path).digests != first.digests
    assert tag(home / "xpos.seqtag", tag(path)).status == "skipped"


def test_models_by_path_and_loaded_are_the_same(place, model, home):
    one = tag(model)
    assert tag(seqtag.load(model), one).status == "skipped"
    assert tag(Models.of(model), one).status == "skipped"
    two = tag([model, home / "xpos.seqtag"], one)
    assert two.reason == "model"
    assert tag([seqtag.load(model), home / "xpos.seqtag"], two).status == "skipped"
    assert Path("out/in.conllu").read_text().split("\n")[1].split("\t")[3:5] == ["DET", "DT"]


def test_a_pipeline_that_hides_a_part_is_another(place):
    pipeline = seqtag.load("en")
    pipeline.save("en.seqtag")  # the embedded file may be of another version
    whole = Models.of(pipeline).digests
    assert Models.of(pipeline.only("lemma")).digests != whole
    assert Models.of(seqtag.load("en")).digests == whole == Models.of("en.seqtag").digests
    hidden, shown = pipeline.only("lemma"), pipeline.only("lemma", "upos")
    assert Models.of(hidden).digests != Models.of(shown).digests
    assert Models.of(pipeline.tagger("xpos")).digests != whole


def test_units_and_results_pickle(place, model):
    models = pickle.loads(pickle.dumps(Models.of(model)))
    function, options = pickle.loads(pickle.dumps((tag_file, TagOptions(to="jsonl"))))
    result = function("in.conllu", "out/in.jsonl", models, options)
    assert pickle.loads(pickle.dumps(result)) == result
    again = function("in.conllu", "out/in.jsonl", model, options, before=result)
    assert again.status == "skipped"


def test_compression_in_and_out(place, model):
    Path("in.conllu.gz").write_bytes(gzip.compress(Path("in.conllu").read_bytes()))
    result = tag_file("in.conllu.gz", "out.conllu.gz", model)
    tag(model)
    assert gzip.decompress(Path("out.conllu.gz").read_bytes()) == Path("out/in.conllu").read_bytes()
    assert result.bytes_written == Path("out.conllu.gz").stat().st_size
    assert result.sha256_written == sha256("out.conllu.gz")


def test_bytes_behind_the_last_sentence_are_digested(place, model):
    packed = gzip.compress(Path("in.conllu").read_bytes())
    Path("in.conllu").write_bytes(packed + bytes(100_000))  # padding, as on tapes
    assert tag(model).sha256_read == sha256("in.conllu")


def test_an_error_leaves_what_was_there(place, model):
    tag(model)
    before = Path("out/in.conllu").read_bytes()
    with Path("in.conllu").open("a") as file:
        file.write("1\tshort\n")
    with pytest.raises(CorpusError, match="expected 10 tab-separated columns"):
        tag(model)
    assert before == Path("out/in.conllu").read_bytes()
    assert names("out") == ["in.conllu"]


def test_what_cannot_be_done_is_said(place, model):
    with pytest.raises(CorpusError, match=r"in.conllu: expected an output file other than the"):
        tag_file("in.conllu", "in.conllu", model)
    with pytest.raises(ModelFileError, match=r"^in.conllu: "):
        tag_file("in.conllu", "out.conllu", "in.conllu")
    assert names(".") == ["in.conllu"]
