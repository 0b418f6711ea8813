"""Checkpoints: where a training stands, kept and found again, and what is refused."""

from __future__ import annotations

import errno
import logging
import subprocess
import sys

import pytest

from seqtag.engine import epochs
from seqtag.errors import CheckpointError
from seqtag.features.language import parse
from seqtag.model import container
from seqtag.model.bundle import to_bytes
from seqtag.storage import output as files
from seqtag.training import checkpoints, loop
from seqtag.training.checkpoints import Checkpoints, files_of
from seqtag.training.train import train
from tests.command_line import posix
from tests.strategies import corpus, each_backend, install
from tests.training.small_corpus import DEV
from tests.training.small_corpus import TRAINING as DATA
from tests.treebanks import components

TEMPLATES = parse(
    "form[0]\nsuffix(1)[0]\nform[-1]\nlabel[-1] + suffix(1)[0]\nlabel[-2] + label[-1]"
)
HOW = {
    "templates": TEMPLATES,
    "label": "tag",
    "epochs": 4,
    "dropout": 0.2,
    "update": "adaptive",
    "step": 0.1,
    "margin": 1.0,
    "dev": DEV,
}


class Killed(BaseException):
    """Raised to end the process; never caught."""


def model_of(**how) -> bytes:
    """The model of the usual training, changed."""
    return to_bytes([train(DATA, **(HOW | how)).model])


def killed(at: int, monkeypatch, trained=model_of, **how) -> None:
    """A training that dies after so many checkpoints."""
    keep = checkpoints.RunCheckpoints._write
    left = [at]

    def write(self, *what):
        if not left[0]:
            raise Killed
        left[0] -= 1
        return keep(self, *what)

    with monkeypatch.context() as context:
        context.setattr(checkpoints.RunCheckpoints, "_write", write)
        with pytest.raises(Killed):
            trained(**how)


def flip(path, at: int = -100) -> None:
    """Damage a file."""
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


# ----------------------------------------------------------------- going on
@each_backend
@pytest.mark.parametrize("every", [None, 0])
@pytest.mark.parametrize("options", [{}, {"runs": 2, "threads": 2}, {"dev": None}, {"patience": 1}])
def test_whatever_stops_a_training_the_model_is_the_same(
    backend, every, options, tmp_path, monkeypatch
):
    install(backend, monkeypatch)
    monkeypatch.setattr(epochs, "ASK_EVERY", 0)
    straight = model_of(**options)
    how = {"checkpoint": tmp_path / "stand", "checkpoint_every": every} | options
    assert model_of(**how) == straight
    written = max(int(path.stem[-6:]) for path in files_of(tmp_path / "stand"))
    for at in range(1, written, 1 if every is None else 7):
        how["checkpoint"] = tmp_path / str(at)
        killed(at, monkeypatch, **how)
        assert model_of(**how, resume=True) == straight
        assert model_of(**how, resume=True) == straight  # once more: it was finished


def treebank():
    text = "the DET the, dog NOUN dog, sings VERB sing; a DET a, cat NOUN cat, sings VERB sing"
    return corpus("; ".join([text] * 3), "form upos lemma")


def pipeline_of(**how) -> bytes:
    return to_bytes(components(treebank(), epochs=3, dev=treebank(), **how))


@pytest.mark.parametrize("threads", [1, 2])
def test_every_part_of_a_pipeline_goes_on(threads, tmp_path, monkeypatch):
    straight = pipeline_of()
    for at in range(1, 16, 4):
        how = {"checkpoint": tmp_path / str(at), "threads": threads}
        killed(at, monkeypatch, pipeline_of, **how)
        assert pipeline_of(**how, resume=True) == straight
    names = {path.name.rpartition("-")[0] for path in files_of(tmp_path / "1")}
    folds = {f"upos-fold-{n}-run-1" for n in (1, 2)}
    assert names == {"upos-run-1", "lemma-run-1", *folds}


def test_a_part_that_is_finished_is_not_trained_again(tmp_path):
    straight = pipeline_of(checkpoint=tmp_path)
    seen = []
    again = pipeline_of(checkpoint=tmp_path, resume=True, on_epoch=seen.append)
    assert (again, seen) == (straight, [])


def test_an_interruption_keeps_a_checkpoint(tmp_path):
    def stop(epoch):
        if epoch.epoch == 2:
            raise KeyboardInterrupt

    part = train(DATA, **HOW, checkpoint=tmp_path, on_epoch=stop)
    assert part.model.interrupted
    assert [path.name for path in files_of(tmp_path)][-1] == "tag-run-1-000002.checkpoint"
    assert model_of(checkpoint=tmp_path, resume=True) == model_of()


def test_an_interruption_of_a_fold_ends_the_pipeline(monkeypatch):
    fit = loop.fit

    def stop(problem, schedule, *more):
        if problem.origin["sentences"] < 6:
            schedule.stop.request()
        return fit(problem, schedule, *more)

    monkeypatch.setattr(loop, "fit", stop)
    [model] = components(treebank(), epochs=2)
    assert (model.column.name, model.interrupted) == ("upos", True)


def test_checkpoints_say_where_the_training_goes_on(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(epochs, "ASK_EVERY", 0)
    how = {"checkpoint": tmp_path, "checkpoint_every": 0}
    killed(9, monkeypatch, **how)
    with caplog.at_level(logging.INFO, "seqtag"):
        model_of(**how, resume=True)
        model_of(**how, resume=True)
    path = str(tmp_path / "tag-run-1-000009.checkpoint")
    notes = [r.getMessage() for r in caplog.records]
    assert notes[0] == f"resuming from {path}: 1 epochs and 3 sentences are done"
    assert notes[1].endswith("this run is finished")


def test_the_last_two_are_kept(tmp_path, monkeypatch):
    killed(3, monkeypatch, checkpoint=tmp_path)
    kept, kept_files = [f"tag-run-1-00000{n}.checkpoint" for n in (2, 3)], files_of(tmp_path)
    assert [path.name for path in kept_files] == kept
    files._temporary_name(kept_files[-1]).write_bytes(b"of a process that was killed")
    model_of(checkpoint=tmp_path, resume=True)
    left = [f"tag-run-1-00000{n}.checkpoint" for n in (4, 5)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lock", *left]


def test_what_a_living_process_writes_in_the_folder_is_left_alone(tmp_path):
    """A folder of checkpoints may be the working folder, in which others write too."""
    with files.Output(tmp_path / "tagged.conllu") as out:
        out.write(b"half")
        model_of(checkpoint=tmp_path)
    assert (tmp_path / "tagged.conllu").read_bytes() == b"half"


def test_with_seconds_between_checkpoints_not_every_epoch_has_one(tmp_path):
    model_of(checkpoint=tmp_path, checkpoint_every=1000)
    assert [path.name for path in files_of(tmp_path)] == ["tag-run-1-000001.checkpoint"]


# ----------------------------------------------------------------- damage
@pytest.mark.parametrize(
    "damage", [flip, lambda path: path.write_bytes(b""), lambda path: flip(path, 300)]
)
def test_after_a_damaged_checkpoint_the_one_before_is_taken(damage, tmp_path, monkeypatch, caplog):
    killed(3, monkeypatch, checkpoint=tmp_path)
    damage(files_of(tmp_path)[-1])
    with caplog.at_level(logging.WARNING, "seqtag"):
        assert model_of(checkpoint=tmp_path, resume=True) == model_of()
    warning = caplog.records[0].getMessage()
    assert warning.startswith(f"{tmp_path / 'tag-run-1-000003.checkpoint'}: expected ")
    assert warning.endswith("; the previous checkpoint is used")
    assert "tag-run-1-000003.checkpoint" not in [path.name for path in files_of(tmp_path)]


def test_without_a_checkpoint_that_is_whole_nothing_is_lost_silently(tmp_path, monkeypatch):
    killed(3, monkeypatch, checkpoint=tmp_path)
    for path in files_of(tmp_path):
        flip(path)
    with pytest.raises(CheckpointError) as error:
        model_of(checkpoint=tmp_path, resume=True)
    assert str(error.value).startswith(
        f"{tmp_path}: expected a complete checkpoint, found none; choose another folder "
        "(tag-run-1-000003.checkpoint: expected the checksum "
    )


def rewritten(path, change) -> None:
    """A checkpoint that is whole, and says something else."""
    config, tensors, *_ = container.load(path)
    tensors = dict(tensors)
    change(config, tensors)
    container.save(path, config, tensors)


FOREIGN = "expected a checkpoint that fits the training, found another ("


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda config, _: config.pop("kind"), "expected a checkpoint, found something else"),
        (lambda config, _: config["standing"].pop("epoch"), FOREIGN + "'epoch')"),
        (
            lambda config, _: config["standing"].update(epoch=-1),
            FOREIGN + "expected a count, found -1)",
        ),
        (
            lambda config, _: config["standing"].update(visited=7),
            FOREIGN + "7 of 6 sentences visited)",
        ),
        (lambda _, tensors: tensors.pop("chain"), "expected the tensors ["),
        (
            lambda _, tensors: tensors.update({"emission.ptr": tensors["emission.ptr"][:-1]}),
            FOREIGN + "the state is of other rows)",
        ),
    ],
)
def test_a_checkpoint_of_something_else_is_refused(change, message, tmp_path, monkeypatch):
    killed(1, monkeypatch, checkpoint=tmp_path)
    [path] = files_of(tmp_path)
    rewritten(path, change)
    with pytest.raises(CheckpointError) as error:
        model_of(checkpoint=tmp_path, resume=True)
    assert f"found none; choose another folder ({path.name}: {message}" in str(error.value)


@pytest.mark.parametrize(("number", "what"), [(errno.ENOSPC, "No space left on device")])
def test_a_full_disk_does_not_end_the_training(number, what, tmp_path, monkeypatch, caplog):
    killed(2, monkeypatch, checkpoint=tmp_path)
    before = [path.name for path in files_of(tmp_path)]

    def full(path, *_):
        raise OSError(number, what, path)

    monkeypatch.setattr(container, "save", full)
    with caplog.at_level(logging.WARNING, "seqtag"):
        assert model_of(checkpoint=tmp_path, resume=True) == model_of()
    path = tmp_path / "tag-run-1-000003.checkpoint"
    assert caplog.records[0].getMessage() == f"{path}: not written ({what}); training continues"
    assert [path.name for path in files_of(tmp_path)] == before
    assert caplog.records[-1].levelname == "ERROR"


def test_a_disk_that_was_full_for_a_while_is_no_error(tmp_path, monkeypatch, caplog):
    real, failures = container.save, [OSError(errno.ENOSPC, "No space left on device")]

    def full_once(*args):
        if failures:
            raise failures.pop()
        return real(*args)

    monkeypatch.setattr(container, "save", full_once)
    with caplog.at_level(logging.WARNING, "seqtag"):
        assert model_of(checkpoint=tmp_path) == model_of()
    assert [record.levelname for record in caplog.records] == ["WARNING"]


# ----------------------------------------------------------------- another training
@pytest.mark.parametrize(
    ("options", "difference"),
    [
        ({"epochs": 10}, "epochs was 4, is 10"),
        ({"seed": 2}, "seed was 1, is 2"),
        ({"runs": 3}, "runs was 1, is 3"),
        ({"patience": 2}, "patience was not given, is 2"),
        ({"shuffle": False}, "shuffle was yes, is no"),
        ({"step": 0.2, "margin": 0.5}, "step was 0.1, is 0.2; margin was 1.0, is 0.5"),
        ({"update": "pa"}, "update was adaptive, is pa"),
        ({"dropout": 0.1}, "dropout was 0.2, is 0.1"),
        ({"min_count": 2}, "min-count was 1, is 2"),
        ({"label_parts": "split"}, "label-parts was whole, is split"),
        ({"dev": None}, "dev set was 2 sentences with SHA-256 "),
        ({"dev": DATA}, "dev set was 2 sentences with SHA-256 "),
        (
            {"templates": parse("form[0]")},
            "templates was suffix(1)[0], form[-1], label[-1] + suffix(1)[0], ",
        ),
        (
            {"templates": parse("\n".join(str(TEMPLATES).splitlines()[::-1]))},
            "the templates are in another order",
        ),
        (
            {"templates": parse(str(TEMPLATES).replace("form[-1]", "form[1]"))},
            "templates was form[-1], is form[+1]",
        ),
    ],
)
def test_other_options_are_refused_with_the_difference(options, difference, tmp_path, monkeypatch):
    killed(2, monkeypatch, checkpoint=tmp_path)
    before = [path.read_bytes() for path in files_of(tmp_path)]
    with pytest.raises(CheckpointError) as error:
        model_of(checkpoint=tmp_path, resume=True, **options)
    assert f"{tmp_path}: expected checkpoints of this training, found others: {difference}" in str(
        error.value
    )
    assert [path.read_bytes() for path in files_of(tmp_path)] == before


def test_other_data_are_refused_with_the_difference(tmp_path, monkeypatch):
    killed(2, monkeypatch, checkpoint=tmp_path)
    how = HOW | {"checkpoint": tmp_path, "resume": True}
    with pytest.raises(CheckpointError, match=r"training set was 6 sentences .*, is 5 sent"):
        train(DATA[1:], **how)
    with pytest.raises(CheckpointError, match=r"set was 6 sentences .*, is 6 sent"):
        train(DATA[::-1], **how)


def test_another_mark_of_words_without_a_label_is_refused(tmp_path, monkeypatch):
    data = corpus("the _, man N; the _, dog N; a _, dog N", "form feats")
    how = {"label": "feats", "templates": parse("form[0]"), "epochs": 3, "checkpoint": tmp_path}

    def trained(**more):
        return train(data, **how, **more)

    killed(1, monkeypatch, trained)
    with pytest.raises(CheckpointError, match="labeled-words was not given, is 3"):
        trained(resume=True, unlabeled="learn_around")


def test_another_version_is_refused(tmp_path, monkeypatch):
    killed(2, monkeypatch, checkpoint=tmp_path)
    monkeypatch.setattr(checkpoints, "__version__", "99.0")
    with pytest.raises(CheckpointError, match=r"seqtag was [\d.a-z]+, is 99\.0;"):
        model_of(checkpoint=tmp_path, resume=True)


def test_another_model_to_go_on_from_is_refused(tmp_path, monkeypatch):
    one, other = (train(DATA, **HOW | {"seed": seed}) for seed in (1, 2))
    with pytest.raises(CheckpointError, match="model to continue from was not given, is "):
        model_of(checkpoint=tmp_path / "a")
        model_of(checkpoint=tmp_path / "a", resume=True, init=one)
    killed(2, monkeypatch, checkpoint=tmp_path / "b", init=one)
    assert model_of(checkpoint=tmp_path / "b", init=one, resume=True) == model_of(init=one)
    with pytest.raises(CheckpointError, match=r"model to continue from was \w+, is \w+"):
        model_of(checkpoint=tmp_path / "b", resume=True, init=other)


def test_other_columns_of_a_pipeline_are_refused(tmp_path, monkeypatch):
    killed(2, monkeypatch, pipeline_of, checkpoint=tmp_path)
    with pytest.raises(CheckpointError, match="label was upos,lemma, is lemma;"):
        components(treebank(), ["lemma"], checkpoint=tmp_path, resume=True)
    with pytest.raises(CheckpointError, match="label was upos,lemma, is tag;"):
        model_of(checkpoint=tmp_path, resume=True)


# ----------------------------------------------------------------- the folder
HOLD = """
import sys, time
from seqtag.training.checkpoints import Checkpoints
from tests.treebanks import components
with Checkpoints(sys.argv[1]):
    print("locked", flush=True)
    sys.stdin.read()
"""


@posix
def test_two_trainings_in_one_folder(tmp_path):
    """The second is refused while the first one runs, and not when that was killed."""
    command = [sys.executable, "-c", HOLD, tmp_path / "stand"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        assert first.stdout.readline() == b"locked\n"
        with pytest.raises(CheckpointError) as error:
            model_of(checkpoint=tmp_path / "stand", resume=True)
        first.kill()
    assert f"found one in use by process {first.pid} on " in str(error.value)
    assert model_of(checkpoint=tmp_path / "stand", resume=True) == model_of()


def test_a_folder_that_cannot_be_locked_is_used_with_a_warning(tmp_path, monkeypatch, caplog):
    def never(_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(checkpoints.locks, "acquire", never)
    with Checkpoints(tmp_path):
        pass
    assert caplog.records[0].getMessage() == (
        f"{tmp_path}: cannot be locked (No locks available); make sure that no other training uses it"
    )


def test_a_folder_is_made_and_a_file_refused(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(CheckpointError) as error:
        model_of(checkpoint=tmp_path / "file")
    assert str(error.value) == (
        f"{tmp_path / 'file'}: expected a folder for checkpoints, found a file; name another"
    )
    assert model_of(checkpoint=tmp_path / "a" / "b") == model_of()
    with pytest.raises(
        CheckpointError, match=r"found tag-run-1-000005\.checkpoint of an earlier training"
    ):
        model_of(checkpoint=tmp_path / "a" / "b")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"resume": True},
            "expected a folder for checkpoints with resume, found none; give checkpoint=",
        ),
        (
            {"checkpoint": "s", "checkpoint_every": -1},
            "expected seconds of 0 or more between checkpoints, found -1",
        ),
    ],
)
@pytest.mark.parametrize("trained", [model_of, pipeline_of])
def test_arguments_that_make_no_sense(options, message, trained, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError) as error:
        trained(**options)
    assert message in str(error.value)
    assert list(tmp_path.iterdir()) == []
