"""The image and the job for clusters."""

from __future__ import annotations

import re
import shlex

import pytest

from seqtag.cli.cluster import command
from tests.conftest import ROOT

DEPLOY = ROOT / "deploy"


def test_the_job_runs_a_command_that_there_is():
    yaml = pytest.importorskip("yaml", reason="needs PyYAML: pip install -e '.[docs]'")
    job = yaml.safe_load((DEPLOY / "rayjob.yaml").read_text())
    program, group, name, *arguments = shlex.split(job["spec"]["entrypoint"])
    assert (program, group, name) == ("seqtag", "cluster", "tag")
    context = command.commands[name].make_context(name, arguments)
    assert context.params["output"] == "/data/out"
    assert context.params["address"] == "auto"
    assert context.params["suffix"] == ".conllu"  # before .gz


def test_image_and_job_have_the_same_ray():
    image = re.search(r"ARG RAY_VERSION=(\S+)", (DEPLOY / "Dockerfile").read_text())[1]
    assert f'rayVersion: "{image}"' in (DEPLOY / "rayjob.yaml").read_text()


def test_both_ask_for_the_token():
    assert "ENV RAY_AUTH_MODE=token" in (DEPLOY / "Dockerfile").read_text()
    assert re.search(r"authOptions:\n +mode: token", (DEPLOY / "rayjob.yaml").read_text())
