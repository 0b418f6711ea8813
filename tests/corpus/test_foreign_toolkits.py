"""Data and templates as they come with CRF++ and Wapiti train and evaluate."""

from __future__ import annotations

import json

import pytest

from tests.command_line import Caller, call

__all__ = ["call"]

BASE_NP = """the DT I\nbig JJ I\ndog NN I\nsees VBZ O\na DT I\ncat NN I\n. . O

John NNP I\nthat DT B\nman NN I\nsees VBZ O\nthe DT I\ncat NN I\n. . O

the DT I\ndog NN I\nsleeps VBZ O\n. . O

"""
SEGMENTS = """犬\tk\tB\nが\th\tB\n眠\tk\tB\nる\th\tI

子\tk\tB\n犬\tk\tI\nが\th\tB\n走\tk\tB\nる\th\tI

"""
NAMES = """太郎 名詞 固有名詞 B-PERSON\nは 助詞 係助詞 O\n京都 名詞 固有名詞 B-LOCATION
市 名詞 接尾 I-LOCATION\nに 助詞 格助詞 O\n住む 動詞 自立 O

花子 名詞 固有名詞 B-PERSON\nも 助詞 係助詞 O\n住む 動詞 自立 O

"""
CRFPP = """# Unigram
U00:%x[-1,0]
U01:%x[0,0]
U02:%x[1,0]
U03:%x[-1,0]/%x[0,0]

U10:%x[-1,1]
U11:%x[0,1]
U12:%x[1,1]
U13:%x[0,1]
U14:%x[-1,1]/%x[0,1]

# Bigram
B
"""
WAPITI = """*

U:Word X=%x[ 0,0]
U:word L=%X[-1,0]
U:word R=%X[ 0,0]/%X[ 1,0]

*:Pos L=%x[-1,1]
*:Pos X=%x[ 0,1]

*:Pre X=%m[ 0,0,"^.?.?"]
*:Suf X=%m[ 0,0,".?.?$"]
*:Caps? X=%t[ 0,0,"\\u"]
*:AllN? X=%t[ 0,0,"^\\d*$"]
"""
NUMBERED = "# Unigram\n*1:%x[-1,0]\n*2:%x[ 0,0]\n\n# Bigram\n*3:%x[-1,0]/%x[0,0]\n"
CASES = {
    "basenp": (BASE_NP, "chunk", "iob1", 6),
    "segmentation": (SEGMENTS, "chunk", "iob2", 6),
    "names": (NAMES, "ner", "iob2", 3),
}


@pytest.mark.parametrize("templates", [CRFPP, WAPITI, NUMBERED], ids=["crfpp", "wapiti", "numbers"])
@pytest.mark.parametrize("case", CASES)
def test_data_and_templates_are_used_as_they_come(case, templates, call: Caller, tmp_path):
    text, label, scheme, chunks = CASES[case]
    data, model = tmp_path / "train.data", tmp_path / "m.seqtag"
    data.write_text(text, encoding="utf-8")
    (tmp_path / "template").write_text(templates)
    options = ("--templates", tmp_path / "template", "--epochs", 9, "--min-count", 1)
    done = call("train", data, *options, "-o", model)
    assert done.code == 0, done.err
    again = "template:10: the template is already on line 8; it is used once"
    assert (again in done.err) == (templates == CRFPP)
    assert f"{label} from " in done.err
    found = json.loads(call("eval", "-m", model, data, "--json").out)
    assert (found["scheme"], found["chunks"]["gold"]) == (scheme, chunks)
