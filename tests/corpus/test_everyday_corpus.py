"""The everyday corpus of the repository: its script finds no error, its page has its numbers."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

SENTENCE = """# sent_id = everyday-made-001
# text = Don't!
1-2	Don't	_	_	_	_	_	_	_	SpaceAfter=No
1	Do	do	AUX	VB	_	_	_	_	_
2	n't	not	PART	RB	_	_	_	_	_
3	!	!	PUNCT	.	_	_	_	_	_

"""


@pytest.fixture
def check(request):
    script = request.config.rootpath / "scripts" / "check_everyday.py"

    def run(*files):
        command = [sys.executable, script, *files]
        return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)

    return run


def test_it_has_no_error_and_the_numbers_of_its_page(check, request):
    done = check()
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


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        ("AUX", "FOO", "columns of Do"),
        ("SpaceAfter=No", "_", "the forms make up"),
        ("3\t!", "4\t!", "not numbered from 1"),
        ("2\tn't", "2\tnot", "do not make it up"),
        ("RB\t_\t_\t_\t_\t_", "RB\t_\t_\t_\t_\tNER=I-PER", "NER of n't"),
    ],
)
def test_errors_that_the_script_finds(check, tmp_path, old, new, message):
    path = tmp_path / "made.conllu"
    path.write_text(SENTENCE.replace(old, new, 1), encoding="utf-8")
    done = check(path)
    assert done.returncode == (message is not None)
    assert (message or "0 errors") in done.stdout
