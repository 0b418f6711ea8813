"""Try an installed seqtag: tag, train, eval, info and load, in a temporary folder.

Usage: python scripts/smoke_test.py SAMPLE [--backend native|reference]

SAMPLE is the folder corpora/sample. Run it with the Python of the environment that seqtag is
installed in; scripts/release and cibuildwheel do. It prints a digest of the trained model and of what
it tags, which is the same on every machine, Python, backend and version of the libraries.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TEXT = "Time flies like an arrow."
UPOS = ["NOUN", "VERB", "ADP", "DET", "NOUN", "PUNCT"]

LOAD = f"""
import sys
from pathlib import Path
import seqtag
tagger = seqtag.load("model.seqtag")
assert len(tagger.tag_words({TEXT.split()!r})) == {len(TEXT.split())}
[sentence] = seqtag.load("en").tag_text({TEXT!r})
assert [word.upos for word in sentence] == {UPOS!r}, sentence
print(Path(seqtag.__file__).resolve().is_relative_to(Path(sys.prefix).resolve()))
"""


def seqtag(*arguments: str, standard_input: str = "") -> str:
    """Run the installed command and return what it prints."""
    command = shutil.which("seqtag", path=Path(sys.executable).parent)
    assert command, f"expected the command seqtag next to {sys.executable}"
    return run(command, *arguments, standard_input=standard_input)


def run(*command: str, standard_input: str = "") -> str:
    environment = {**os.environ, "PYTHONUTF8": "1"}
    done = subprocess.run(
        command, input=standard_input, capture_output=True, encoding="utf-8", env=environment
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


def try_it(sample: Path, backend: str) -> str:
    """Run the commands in the current folder and return the digest of what they write."""
    version = seqtag("--version")
    assert f"{backend} backend" in version, f"expected the {backend} backend, found {version}"

    rows = [
        row.split("\t") for row in seqtag("tag", standard_input=TEXT).splitlines() if "\t" in row
    ]
    assert [row[3] for row in rows] == UPOS, rows

    train, test = (str(sample / f"en-sample-{part}.conllu") for part in ("train", "test"))
    seqtag("train", train, "-o", "model.seqtag")
    tagged = seqtag("tag", "-m", "model.seqtag", test)
    assert "tokens" in seqtag("eval", "-m", "model.seqtag", test)
    assert "upos" in seqtag("info", "model.seqtag")
    assert run(sys.executable, "-c", LOAD).split() == ["True"], "seqtag is not the installed one"
    return hashlib.sha256(Path("model.seqtag").read_bytes() + tagged.encode()).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sample", type=Path)
    parser.add_argument("--backend", choices=["native", "reference"], default="native")
    arguments = parser.parse_args()
    sample = arguments.sample.resolve()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            print(try_it(sample, arguments.backend))
        finally:
            os.chdir(sample)  # Windows does not remove the current folder


if __name__ == "__main__":
    main()
