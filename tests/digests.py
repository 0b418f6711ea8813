"""Digests of models and outputs on the sample corpus: what a change of the code must not change.

Run as a program it prints them as JSON, for the backend that the environment names:
``python tests/digests.py corpora/sample``. `tests/test_digests.py` compares them with those
written down in `tests/digests.json`.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
import sys
import tempfile
from pathlib import Path

import seqtag
from seqtag.cli import main

FEATS = {"NN": "Number=Sing", "NNS": "Number=Plur", "VBZ": "Mood=Ind|Tense=Pres"}


def digest(data: bytes) -> str:
    """The first 16 digits of SHA-256."""
    return hashlib.sha256(data).hexdigest()[:16]


def model_digest(path: Path) -> str:
    """Digest of configuration and tensors of a model file, whatever version wrote it."""
    data = path.read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    metadata = json.loads(header.pop("__metadata__")["seqtag"])
    [config] = metadata["config"].get("parts") or [metadata["config"]]
    config["training"].get("dev", {}).pop("signature", None)  # it names the version
    found = hashlib.sha256(json.dumps(config, sort_keys=True).encode())
    for name in sorted(header):
        entry = header[name]
        name = name.removeprefix("p0.")
        begin, stop = (end + offset for offset in entry["data_offsets"])
        found.update(f"{name} {entry['dtype']} {entry['shape']}".encode() + data[begin:stop])
    return found.hexdigest()[:16]


def command(*args: object) -> bytes:
    """What ``seqtag ARGS`` prints on stdout, without the signature, which names the version."""
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = main([str(arg) for arg in args])
        out.flush()
    assert code == 0, (args, code)
    return re.sub(rb"(?m)^.*\|version:.*\n", b"", raw.getvalue())


def inputs(sample: Path, folder: Path) -> dict[str, Path]:
    """Files in every format, made from the sample corpus, by format."""
    files = {"conllu": sample / "en-sample-test.conllu", "conll2000": folder / "test.chunk.txt"}
    files["conll2000"].write_bytes((sample / "en-sample-test.chunk.txt").read_bytes())
    sentences = [sentence for sentence in seqtag.read(files["conllu"]) if len(sentence)]
    chunks = [sentence for sentence in seqtag.read(files["conll2000"]) if len(sentence)]

    def write(name: str, text: str) -> None:
        files[name] = folder / f"test.{name}"
        files[name].write_bytes(text.encode())

    def lines(sentence: object, *columns: str) -> str:
        rows = zip(*(sentence.column(name) for name in columns), strict=True)
        return "".join(" ".join(row) + "\n" for row in rows) + "\n"

    write("conll2002", "".join(lines(s, "form", "pos", "chunk") for s in chunks))
    docstart = "-DOCSTART- -X- O O\n\n"
    write(
        "conll2003", docstart + "".join(lines(s, "form", "pos", "chunk", "chunk") for s in chunks)
    )
    write("columns", "".join(lines(s, "form", "pos").replace(" ", "\t") for s in chunks))
    plus = "# global.columns = ID FORM UPOS XPOS\n"
    for sentence in sentences:
        rows = zip(*(sentence.column(name) for name in ("form", "upos", "xpos")), strict=True)
        plus += "".join("\t".join([str(i), *row]) + "\n" for i, row in enumerate(rows, 1)) + "\n"
    write("conllu-plus", plus)
    write("tokens", "".join(" ".join(sentence.words) + "\n" for sentence in sentences))
    write("text", "The old man gave up his seat. It was the last train.\nNobody laughed.\n")
    pairs = [list(zip(s.words, s.column("pos"), strict=True)) for s in chunks]
    tagged = [" ".join(f"{word}/{tag}" for word, tag in pair) for pair in pairs]
    write("tagged", "\n".join(tagged) + "\n")
    write("pos", "\n\n".join(tagged) + "\n")
    write(
        "mrg",
        "".join(
            "( (S " + " ".join(f"({tag} {word})" for word, tag in pair) + ") )\n"
            for pair in pairs[:8]
            if not any(set("()") & set(word + tag) for word, tag in pair)
        ),
    )
    return files


def with_feats(text: str) -> str:
    """CoNLL-U with FEATS that follow from XPOS."""
    rows = [line.split("\t") for line in text.split("\n")]
    for row in rows:
        if len(row) == 10:
            row[5] = FEATS.get(row[4], "_")
    return "\n".join("\t".join(row) for row in rows)


def digests(sample: Path, folder: Path, small: bool) -> dict[str, str]:
    """All digests; `small`: train on the dev part, as a slow backend must."""
    found: dict[str, str] = {}
    files = inputs(sample, folder)
    part = "dev" if small else "train"
    conllu, chunk = sample / f"en-sample-{part}.conllu", sample / f"en-sample-{part}.chunk.txt"
    feats = folder / "feats.conllu"
    feats.write_text(with_feats(conllu.read_text("utf-8")), encoding="utf-8")
    few = {"epochs": 2} if small else {"epochs": 4}
    trainings = {
        "pos": (conllu, {"label": "upos"}),
        "xpos": (conllu, {"label": "xpos", "update": "perceptron", "margin": 0}),
        "chunk": (chunk, {"label": "chunk"}),
        "ner": (chunk, {"label": "chunk", "templates": "ner", "encoding": "bilou"}),
        "morph": (feats, {"label": "upos+feats", "templates": "morph"}),
        "free": (chunk, {"label": "chunk", "constrain": False, "dropout": 0.2, "runs": 2}),
    }
    if not small:
        trainings["dev"] = (conllu, {"label": "upos", "dev": sample / "en-sample-dev.conllu"})
    models = {}
    for name, (data, settings) in trainings.items():
        models[name] = folder / f"{name}.seqtag"
        seqtag.train(data, seed=1, **few, **settings).save(models[name])
        found[f"model {name}"] = model_digest(models[name])
    own = folder / "own.txt"
    own.write_text(
        "form[0]\nnormal[-1] + normal[0]\nlabel[-1]\nlabel[-1] + shape[0]\nset epochs 2\n"
    )
    models["own"] = folder / "own.seqtag"
    seqtag.train(conllu, label="upos", templates=own, min_count=2).save(models["own"])
    found["model own"] = model_digest(models["own"])
    for format, path in files.items():
        found[f"tag {format}"] = digest(
            command("tag", "-m", models["pos"], path, "--format", format, "--to", "conllu")
        )
    for to in ("conllu", "columns", "conll2000", "tagged", "tokens"):
        out = command(
            "tag",
            "-m",
            models["xpos"],
            "-m",
            models["chunk"],
            files["tokens"],
            "--format",
            "tokens",
            "--to",
            to,
        )
        found[f"tag tokens to {to}"] = digest(out)
    for name in ("pos", "xpos", "morph", "own"):
        found[f"tag in place {name}"] = digest(command("tag", "-m", models[name], files["conllu"]))
        found[f"eval {name}"] = digest(
            command("eval", "-m", models[name], feats if name == "morph" else files["conllu"])
        )
    for name in ("chunk", "ner", "free"):
        found[f"tag in place {name}"] = digest(
            command("tag", "-m", models[name], files["conll2000"])
        )
        found[f"eval {name}"] = digest(
            command("eval", "-m", models[name], files["conll2000"], "--conlleval")
        )
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        result = digests(Path(sys.argv[1]), Path(place), small=sys.argv[2:] == ["--small"])
    print(json.dumps(result, indent=1))
