"""The exercises have answers, and the answers are right."""

from __future__ import annotations

import ast
import doctest
import re
import runpy
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from seqtag.engine.arrays import Potentials
from seqtag.engine.reference import path_score, viterbi

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
QUESTIONS = (DOCS / "exercises.md").read_text(encoding="utf-8")
STUBS, ANSWERS = DOCS / "exercises.py", DOCS / "exercises_answers.py"

answers = runpy.run_path(str(ANSWERS))


def failures(path):
    """Failed and tried examples of a Python file."""
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(verbose=False)
    names = runpy.run_path(str(path))
    functions = [each for each in names.values() if hasattr(each, "__doc__") and callable(each)]
    for each in functions:
        for test in finder.find(each, each.__name__, module=False, globs=dict(names)):
            runner.run(test, out=lambda _: None)
    return runner.failures, runner.tries


def functions(path):
    """Name, arguments and docstring of each function."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [(node.name, ast.dump(node.args), ast.get_docstring(node)) for node in found]


def test_every_exercise_has_an_answer():
    numbers = [int(number) for number in re.findall(r"^(\d+)\. ", QUESTIONS, re.M)]
    assert numbers == list(range(1, 31))
    text = (DOCS / "exercises-answers.md").read_text(encoding="utf-8")
    written = [int(number) for number in re.findall(r"^\*\*(\d+)\.\*\*", text, re.M)]
    coded = [int(re.match(r"Exercise (\d+)", text)[1]) for _, _, text in functions(ANSWERS)]
    assert written + coded == numbers
    for name, _, doc in functions(STUBS):
        number = re.match(r"Exercise (\d+)", doc)[1]
        assert re.search(rf"^{number}\. `{name}\(", QUESTIONS, re.M)


def test_the_answers_on_paper():
    found = doctest.testfile(str(DOCS / "exercises-answers.md"), module_relative=False)
    assert found.attempted > 35
    assert found.failed == 0


def test_stubs_are_the_answers_without_their_bodies():
    assert functions(STUBS) == functions(ANSWERS)
    assert failures(STUBS) == (10, 12)  # two need no answer
    assert failures(ANSWERS) == (0, 12)


@pytest.mark.parametrize("seed", range(100))
def test_answers_about_lattices_on_others(seed):
    random = np.random.RandomState(seed)
    tokens, labels = random.randint(1, 5), random.randint(2, 4)
    start, stop = random.randint(-2, 3, (2, labels))
    emission = random.randint(-2, 3, (tokens, labels))
    transition = random.randint(-2, 3, (labels, labels))
    p = Potentials(*(part.astype(float) for part in (emission, start, stop, transition)), None)
    lists = [part.tolist() for part in (start, emission, transition, stop)]
    y = answers["decode"](*lists)
    assert y == answers["best_of_all"](*lists) == viterbi(p).tolist()
    scores = sorted(path_score(p, y) for y in np.ndindex((labels,) * tokens))
    assert answers["second_best"](*lists) == scores[-2]
    pair = random.randint(0, labels, 2).tolist()
    kept = answers["decode"](lists[0], lists[1], answers["forbid"](lists[2], [(*pair,)]), lists[3])
    assert pair not in [list(each) for each in pairwise(kept)]


def test_folds_leave_each_out_once():
    for n in range(2, 12):
        for k in range(2, n + 1):
            folds = answers["k_folds"](n, k)
            assert sorted(i for _, held_out in folds for i in held_out) == list(range(n))
            assert all(sorted(a + b) == list(range(n)) for a, b in folds)
            sizes = {len(held_out) for _, held_out in folds}
            assert max(sizes) - min(sizes) <= 1


def test_the_plans_name_exercises_that_exist():
    teaching = (DOCS / "teaching.md").read_text(encoding="utf-8")
    assert "[30 exercises](exercises.md)" in teaching
    for minutes, plan in ((90, "## Ninety minutes"), (180, "## Three hours")):
        rows = teaching.split(plan)[1].split("## ")[0]
        assert sum(map(int, re.findall(r"^\| (\d+) \|", rows, re.M))) == minutes
    assert {int(n) for n in re.findall(r"exercises? (\d+)", teaching)} <= set(range(1, 31))
