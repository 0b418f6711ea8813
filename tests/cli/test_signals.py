"""SIGINT and SIGTERM in every command that takes long: one line, an exit code, nothing left."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

LOADING = """
import sys
class Interrupt:
    def find_spec(self, name, *_):
        if name == wanted:
            raise KeyboardInterrupt
wanted = sys.argv.pop(1)
sys.meta_path.insert(0, Interrupt())
from seqtag.__main__ import main
sys.exit(main())
"""


def test_an_interruption_while_the_program_is_loaded():
    for name in ("seqtag.cli", "click", "seqtag.cli.info"):
        command = [sys.executable, "-c", LOADING, name, "info", "en"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        said = done.stderr.strip()  # click begins a line of its own
        assert (done.returncode, done.stdout, said) == (130, "", "seqtag: interrupted"), name


def test_the_program_is_the_function_that_knows_of_it():
    text = Path(__file__, "../../../pyproject.toml").resolve().read_text(encoding="utf-8")
    assert '\nseqtag = "seqtag.__main__:main"\n' in text
