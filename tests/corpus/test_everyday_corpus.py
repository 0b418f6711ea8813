"""The everyday corpus of the repository: its script finds no error, its page has its numbers."""

from __future__ import annotations

import re
import subprocess
import sys


def test_it_has_no_error_and_the_numbers_of_its_page(request):
    command = [sys.executable, request.config.rootpath / "scripts" / "check_everyday.py"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout
    pattern = r"(?m)^(\w+) (\d+) words (\d+) names (\d+) sentences$"
    found = {
        kind: (sentences, words, names)
        for kind, words, names, sentences in re.findall(pattern, done.stdout)
    }
    folder = request.config.rootpath / "corpora" / "everyday"
    page = (folder / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| `(\w+)` \| (\d+) \| (\d+) \| (\d+) \|", page)
    assert found == {kind: tuple(numbers) for kind, *numbers in rows}
    assert len(found) == len([*folder.glob("*.conllu")])
