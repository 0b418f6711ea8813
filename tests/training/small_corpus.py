"""A small corpus of tags, templates for it, and files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqtag.features.language import parse
from seqtag.training.train import train
from tests.strategies import corpus

if TYPE_CHECKING:
    from seqtag.tagging.tagger import Tagger

TEMPLATES = parse("form[0]\nsuffix(1)[0]\nform[-1]\nlabel[-1]")
TRAINING = corpus(
    "the DT, old JJ, man NN, sees VB; the DT, man NN, runs VB; old JJ, men NN, run VB; "
    "a DT, run NN, is VB, old JJ; men NN, man VB, the DT, boat NN; she PR, runs VB, a DT, boat NN"
)
DEV = corpus("a DT, man NN, runs VB; the DT, boat NN, is VB, old JJ")
CHUNKS = corpus(
    "the B-NP, old I-NP, man I-NP, sees B-VP, her B-NP; he B-NP, runs B-VP; "
    "so O, did B-VP, the B-NP, man I-NP; yes O; the B-NP, man I-NP, the B-NP, boat I-NP"
)
CONLLU = (
    "# text = Dogs bark.\n"
    "1\tDogs\tdog\tNOUN\t_\tNumber=Plur\t_\t_\t_\t_\n"
    "2\tbark\tbark\tVERB\t_\tNumber=Plur|Tense=Pres\t_\t_\t_\t_\n"
    "3\t.\t.\tPUNCT\t_\t_\t_\t_\t_\t_\n\n"
)


def model(data=TRAINING, **options) -> Tagger:
    """What `train` makes with these templates, or with those of `init`."""
    templates = {} if "init" in options else {"templates": TEMPLATES}
    return train(data, **(templates | {"label": "tag", "epochs": 3} | options))


def column_file(tmp_path, text: str, name: str = "a.txt"):
    path = tmp_path / name
    path.write_text(text)
    return path
