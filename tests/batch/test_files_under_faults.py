"""`seqtag.tag_file` under faults: what was not done whole is done again."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import errno
from pathlib import Path

import pytest

from seqtag.batch.files import tag_file
from tests.command_line import conllu, home
from tests.faults import each_fault

OUT = Path("out", "in.conllu")


@pytest.mark.parametrize(
    ("error", "after"), [(errno.ENOSPC, False), (errno.EIO, True), (KeyboardInterrupt, True)]
)
@pytest.mark.parametrize("again", [False, True], ids=["anew", "over a file"])
def test_a_fault_at_any_call_leaves_a_file_to_be_done_again(
    again, error, after, home, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    model, old = home / "upos.seqtag", "the cat barks ."
    Path("in.conllu").write_text(conllu(labels=False))
    tag_file("in.conllu", str(OUT), model)
    new = OUT.read_bytes()
    seen = set()
    for faults in each_fault(pytest.MonkeyPatch, (error, after)):
        faults.over = True
        for path in OUT.parent.iterdir():
            path.unlink()
        OUT.parent.rmdir()
        if again:  # of another text
            Path("in.conllu").write_text(conllu([old], labels=False))
            tag_file("in.conllu", str(OUT), model)
            Path("in.conllu").write_text(conllu(labels=False))
        before = OUT.read_bytes() if again else None
        faults.over = False
        try:
            tag_file("in.conllu", str(OUT), model)
        except (OSError, KeyboardInterrupt):
            assert (OUT.read_bytes() if OUT.exists() else None) in (before, new), faults.calls
        else:
            assert OUT.read_bytes() == new, faults.calls
        faults.over = True
        seen |= {faults.last} if faults.happened else set()
        if OUT.parent.exists():
            assert not list(OUT.parent.glob(".seqtag-*")), faults.calls
        done = tag_file("in.conllu", str(OUT), model)
        assert OUT.read_bytes() == new, faults.calls
        assert tag_file("in.conllu", str(OUT), model, before=done).status == "skipped", done
    assert {"open", "write", "flush", "replace", "close"} <= seen
