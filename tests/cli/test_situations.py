"""What people bring, as found in public threads: read, or refused by name. The files are made up."""

# ruff: noqa: F401, F811  (the fixture is imported, then asked for by name)
from __future__ import annotations

import json

import pytest

import seqtag
from seqtag.errors import SeqtagError
from tests.command_line import call, run

SENTENCES = 8 * [
    "Mira/B-PER Falk/I-PER sings/O ./O",
    "Tavo/B-PER works/O for/O Lume/B-ORG Bank/I-ORG ./O",
    "Nobody/O saw/O Norvale/B-LOC ./O",
]


def table(row: str, end: str = "\n", start: str = "") -> str:
    """The sentences in a format: each word as `row`, each sentence after `start` and before `end`."""
    text = ""
    for sentence in SENTENCES:
        text += start
        for i, item in enumerate(sentence.split(), 1):
            word, label = item.split("/")
            kind = label[2:] or "O"
            tag = "SENT" if word == "." else "NNP" if word[0].isupper() else "VBZ"
            text += row.format(w=word, ner=label, kind=kind, tag=tag, low=word.lower(), i=i)
        text += end
    return text


WORDS = [[item.split("/")[0] for item in each.split()] for each in SENTENCES]
LABELS = [[item.split("/")[1] for item in each.split()] for each in SENTENCES]
LINES = "".join(" ".join(words) + "\n" for words in WORDS)
OBJECTS = [
    {"id": i, "tokens": words, "ner_tags": labels, "source": {"year": 2020}}
    for i, (words, labels) in enumerate(zip(WORDS, LABELS, strict=True))
]
LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
FILES = {
    "names.bio": table("{w}\t{ner}\n"),
    "other.bio": table("{w}\t{ner}\n")
    .replace("-PER", "-PERSON")
    .replace("-O", "-C")
    .replace("-L", "-P"),
    "label-studio.conll": "-DOCSTART- -X- O O\n\n" + table("{w} -X- _ {ner}\n"),
    "glued.conll": table("{w} -X- _ {ner}\n")
    .replace(" -X- _ O\n. ", ". ")
    .replace("I-ORG\n. -X- _ O", "I-ORG"),
    "blank.txt": table("{w} {ner}\n").replace("B-ORG", "B-Org 2"),
    "blank.tsv": table("{w}\t{ner}\n").replace("B-ORG", "B-Org 2"),
    "anntoconll": table("{ner}\t{i}\t{i}\t{w}\n"),
    "slashtags.txt": table("{w}/{kind} "),
    "stanford.tsv": table("{w}\t{kind}\n"),
    "corenlp.conll": table("{i}\t{w}\t{low}\t{tag}\t{kind}\t0\tdep\n"),
    "no-phrases.conll": "-DOCSTART- -X- O O\n\n" + table("{w} {tag} O {ner}\n"),
    "strings.jsonl": "".join(json.dumps(each) + "\n" for each in OBJECTS),
    "words.jsonl": json.dumps({"words": WORDS[0], "labels": LABELS[0]}) + "\n",
    "sketch.vert": '<doc id="a">\n'
    + table("{w}\t{tag}\t{low}\n", "</s>\n", "<s>\n").replace("\n.\t", "\n<g/>\n.\t")
    + "</doc>\n",
    "corpus.vert": '<?xml version="1.0"?>\n<corpus>\n'
    + table("{w}\n", "</s>\n", "<s>\n")
    + "</corpus>\n",
    "treetagger.txt": table("{w}\t{tag}\t{low}\n", ""),
    "unknown.txt": table("{w}\t{tag}\t{low}\n", "").replace("mira", "<unknown>"),
    "claws.txt": table("{w}_{tag} "),
    "mecab.txt": table("{w}\t{tag},*,*\n", "EOS\n"),
    "conll-x.conll": table("{i}\t{w}\t_\t{tag}\t{tag}\t_\t0\tdep\t_\t_\n"),
    "hfst.txt": table("{w}\t{low}+N\t0,000000\n\n", ""),
    "foma.txt": table("{w}\t{low}+N\n{w}\t{low}+V\n\n", ""),
    "far.conll": 160 * table("{w} {ner}\n") + table("{w} {ner}\n", "-DOCSTART- O\n"),
    "lfs.conllu": LFS,
    "lfs.seqtag": LFS,
    "list.txt": "Mira Falk\nTavo Odden\nLunet Rask\n",
    "aligned.txt": "Item      Qty  Price\nApples     12   3.40\nPears       3   1.20\n",
    "queries.txt": "where is my order\nhow do i return\nwhen does it open\n",
    "comma.txt": "Hello, world\n",
    "places.txt": "Paris, France\nRome, Italy\nOslo, Norway\n",
    "emoji.txt": "Good morning \U0001f468\u200d\U0001f469\u200d\U0001f466 from #Norvale :-)\n",
    "mail.txt": "From: mira@norvale.example\nSubject: Pumps\n\n> Are they here?\nYes.\n",
    "pdf.txt": "The firm em-\nploys two hundred in the north-\nern re-\ngion of the land.\n",
    "readme.md": "# Setup\n\n- Fast\n- Small\n",
    "chat.txt": "[12/03/2025, 09:14] Mira: hi\n[12/03/2025, 09:15] Tavo: \u200eok\n",
    "bidi.txt": "He met \u2068Mira Falk\u2069 .\n",
    "twice.txt": "It\u00e2\u20ac\u2122s a caf\u00c3\u00a9 in the town.\nWe don\u00e2\u20ac\u2122t know.\n",
    "spaces.txt": "The\u00a0dog\u200b barks .\n",
    "caps.txt": "THE DOG BARKS.\nTHE CAT SLEEPS.\n",
    "law.txt": "See Falk v. Odden, 410 U.S. 113. It was reversed.\n",
    "mac.txt": "The dog barks.\rIt is late.\r",
    "text.txt": "The dog barks. It is late.\n",
}
BYTES = {
    "utf16.txt": "Dogs bark.\n".encode("utf-16"),
    "western.txt": b"A caf\xe9 here.\n",
    "null.txt": b"Dogs\0bark.\n",
    "hub.parquet": b"PAR1\x15\x04",
}
FOREIGN = [  # a beginning, lines that recur, the name in the message
    ('<?xml version="1.0"?>\n<TEI>\n', "", "XML"),
    ("<TEI>\n", "<p><w>Mira</w> <w>works</w></p>\n", "XML"),
    ("", '<w pos="NN">dog</w>\n', "HTML or XML"),
    ("<!DOCTYPE html>\n<html>\n", "", "HTML"),
    ("<p>The <b>dog</b> barks.&nbsp;It is late.</p>\n", "", "HTML or XML"),
    ("", "<p>The dog barks and\ngoes <b>home</b>.</p>\n", "HTML or XML"),
    ("T1\tPER 0 3\tAda\nT2\tLOC 5 9\tRome\n", "", "brat's .ann"),
    ("#FORMAT=WebAnno TSV 3.3\n#T_SP=x\n\n", "", "WebAnno TSV"),
    ('{"version": "1", "documents": [\n', "", "JSON"),
    ("[\n", ' {\n  "tokens": ["Mira"]\n },\n', "JSON"),
    (
        "It was late .\n",
        "<START:person> Mira Falk <END> works .\nIt is late .\nDogs bark .\n",
        "text with marks of names",
    ),
    (
        "It was late.\n",
        'In <ENAMEX TYPE="LOC">Norvale</ENAMEX>.\nWhy?\n',
        "text with marks of names",
    ),
    ("", "<person>Mira Falk</person> ran.\n", "text with marks of names"),
    ("", "[PER Mira Falk ] visited [LOC Norvale ] .\n", "text with marks of names"),
    ("", "[Mira Falk](PER) visited [Norvale](LOC).\nWhy?\n", "text with marks of names"),
    (
        'version: "3.1"\nnlu:\n- intent: go\n  examples: |\n',
        "    - go to [Norvale](city)\n    - go\n    - go now\n",
        "text with marks of names",
    ),
    (
        "import spacy\nTRAIN_DATA = [\n",
        '    ("Mira ran.", {"entities": [(0, 4, "PER")]}),\n',
        "Python source",
    ),
    ("data = [\n", "[('Mira', 'NNP'), ('ran', 'VBD')],\n", "Python source"),
    ("", "1\n00:00:01,000 --> 00:00:03,500\nWhere were you\nall day?\n\n", "subtitles"),
    ("WEBVTT\n\n", "00:01.000 --> 00:03.500\nWhere?\n\n", "subtitles"),
    ("@UTF8\n@Begin\n", "*MOT:\twhere is it ?\n%mor:\tadv|where\n", "subtitles or a trans"),
    (
        "Tier\tBegin\tEnd\tAnnotation\n",
        "S1\t00:00:00.100\t00:00:00.900\tit was late\n",
        "subtitles or a transcript",
    ),
    ("", '"<dogs>"\n\t"dog" N Pl\n"<.>"\n\t"." PUNCT\n', "analyses of CG-3"),
    ("", "^dogs/dog<n><pl>$ ^bark/bark<vblex>$\n", "analyses of CG-3"),
    ("", "[CLS]\tX\nNor\tB-LOC\n##vale\tX\n\n", "pieces of words of a tokenizer"),
    ("", "Nor B-LOC\nvale -100\nis O\n\n", "pieces of words of a tokenizer"),
    ("", "7|t|Mira ran .\n7|a|It was late .\n7\t0\t4\tMira\tGene\t1\n\n", "PubTator"),
    (
        'File type = "ooTextFile"\n',
        '  xmin = 0\n  text = "Mira"\n',
        "subtitles or a trans",
    ),
    ("", "U00:Mira U01:mi B-PER\nU00:ran U01:ra O\n\n", "attributes of CRFsuite or Wap"),
    ("", "B-PER\tw=Mira\nO\tw=ran\tlow\n\n", "attributes of CRFsuite or Wap"),
    ('<Sentence id="1">\n', "1.1\tdog\tNN\t<fs af='dog,n,,,,,,'>\n", "analyses of CG-3"),
    ("", "B-PER\tw[0]=Mira\tcap:1.0\nO\tw[0]=ran\tcap:0.0\n\n", "attributes of CRFs"),
    (
        "id,sentence,tags\n",
        "1,Mira ran .,\"['B-PER', 'O', 'O']\"\n",
        "lists in the cells",
    ),
    ("", "Mira ran .\t[1, 0, 0]\n", "lists in the cells"),
    ("", "Mira ran .\tB-PER O O\n", "sentences with all labels"),
    ("", '"Mira ran .","NNP VBD ."\n', "sentences with all labels"),
    ("", "Mira ran . ||| B-PER O O\n", "sentences with all labels"),
    ("", 'Dogs\t[dog] N Pl\nbark\t"bark" V Pres\n.\t"." PUNCT\n\n', "analyses of CG-3"),
    ("", "B-PER\tMira\tcap\tfirst\nO\tran\nO\t.\tlast\n\n", "attributes of CRFs"),
    ("", "Mira ran home B-PER O O\nIt sat down O O O\n", "sentences with all labels at"),
    ("", "Mira ran . B-PER O O\nIt sat O O\n", "sentences with all labels at the end"),
    ("", "PROPN VERB ADV PUNCT\nNOUN VERB\n", "labels without words"),
    ("", "Mira ran .\nB-PER O O\n\n", "lines of words and lines of labels"),
    ("", "B-PER O O\nO O\n", "labels without words"),
]

RIGHT = [  # the command, what it prints
    ("train label-studio.conll", "separated by blanks: form, pos, 3, ner (IOB2, 3 types)"),
    ("train no-phrases.conll", "separated by blanks: form, pos, chunk, ner (IOB2, 3 types)"),
    ("train glued.conll", "separated by blanks: form, pos, 3, ner (IOB2, 3 types)"),
    ("train blank.tsv", "tab-separated: form, ner (IOB2, 4 types)"),
    ("train anntoconll", "tab-separated: ner (IOB2, 3 types), 2, 3, form"),
    ("train slashtags.txt", "tagged: form, ner (IOB1, 3 types); ner written as PER PER O"),
    ("train stanford.tsv", "form, ner (IOB1, 3 types); ner written as PER PER O"),
    ("train corenlp.conll", "ner (IOB1, 3 types), 6, 7; ner written as PER PER O; learns ner"),
    ("tag -m ner_tags.seqtag strings.jsonl", FILES["strings.jsonl"]),
    ("tag -m names.seqtag sketch.vert", '<doc id="a">\n<s>\nMira\tNNP\tmira\tB-PER\n'),
    ("tag -m names.seqtag --to tokens corpus.vert", LINES),
    ("tag -m names.seqtag --to conllu sketch.vert", "# newdoc id = a\n# text = Mira Falk sings.\n"),
    ("train treetagger.txt", "or the tag that ends them, such as --sentences SENT"),
    ("train treetagger.txt --sentences SENT", "lemma; sentences by pos=SENT"),
    ("train unknown.txt", "tab-separated: form, pos (3 labels), lemma"),
    ("train claws.txt", "24 sentences, 112 words; tagged: form, pos (3 labels)"),
    ("train mecab.txt", "form, label (3 labels); sentences by EOS"),
    ("train conll-x.conll", "conllu: id, form, lemma, upos (3 labels), xpos, feats, head, deprel"),
    ("tag --to tokens list.txt", FILES["list.txt"]),
    ("tag --to tokens aligned.txt", "Item Qty Price\nApples 12 3.40\nPears 3 1.20\n"),
    ("tag --to tokens queries.txt", FILES["queries.txt"]),
    ("tag --to tokens comma.txt", "Hello , world\n"),
    ("tag --to tokens places.txt", "Paris , France\nRome , Italy\nOslo , Norway\n"),
    ("tag --to tokens emoji.txt", FILES["emoji.txt"]),
    ("tag --to tokens mail.txt", "> Are they here ?\nYes .\n"),
    ("tag --to tokens pdf.txt", "pdf.txt:1: 3 cut words at line ends in the sample, the first here; "
     "join them"),
    ("tag --to tokens readme.md", "# Setup\n- Fast\n- Small\n"),
    ("tag --to tokens chat.txt", "Tavo : ok\n"),
    ("tag --to tokens bidi.txt", "He met Mira Falk .\n"),
    ("tag --to tokens twice.txt", "decoded as Windows-1252 in the sample, the first here; restore"),
    ("tag --to tokens spaces.txt", "The dog\u200b barks .\n"),
    ("tag --to tokens caps.txt", "THE DOG BARKS .\nTHE CAT SLEEPS .\n"),
    ("tag --to tokens law.txt", "See Falk v. Odden , 410 U.S. 113 .\nIt was reversed .\n"),
    ("tag --to tokens mac.txt", "The dog barks .\nIt is late .\n"),
    ("eval -m names.seqtag other.bio", "note: gold and predicted labels have none in common"),
    ("info en", "CC BY-SA 4.0"),
]  # fmt: skip
REFUSED = [  # the command, the message
    ("train blank.txt", "blank.txt:9: expected 2 columns, found 3 (\"Lume\")"),
    ("train words.jsonl", "convert it, for example with jq -c .[] (of a list of objects) or jq -r "
     ".text (of texts), or a script that writes one object with a list tokens a line"),
    ("train hub.parquet", "found Parquet or Arrow; read it in Python: seqtag.train(pyarrow.parquet"),
    ("train hfst.txt", "hfst.txt: expected a blank line after each sentence, found one after each "),
    ("tag foma.txt", "found one after each word, as in analyses of HFST and foma; convert it with"),
    ("tag lfs.conllu", "a pointer of Git LFS instead of the file; fetch it with git lfs pull"),
    ("tag -m lfs.seqtag text.txt", "expected a seqtag model, found a pointer of Git LFS"),
    ("tag utf16.txt", "for example with iconv -f UTF-16 -t UTF-8"),
    ("tag western.txt", "for example with iconv -f WINDOWS-1252 -t UTF-8 (if it is Western)"),
    ("tag null.txt", "found a null byte at byte offset 4, as in binary files and UTF-16"),
    ("train far.conll", "expected a blank line before it, found a word; give --sentences=-DOCSTART-"),
    ("tag -m NE.seqtag text.txt", "NE.seqtag: No such file or directory; embedded models: en"),
    ("train https://norvale.example/a.conllu", "a.conllu: No such file or directory; download it"),
    ("train C:\\data\\a.conllu", "C:\\data\\a.conllu: No such file or directory; check the path"),
]  # fmt: skip
PROCESSES = [  # the input, what changes in the environment
    ([], {}),
    ([], {"PYTHONOPTIMIZE": "2"}),
    ([], {"PYTHONWARNINGS": "error"}),
    (["-"], {"HOME": None, "TMPDIR": None, "LANG": None}),
    (["/dev/stdin"], {}),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files, and models of them."""
    folder = tmp_path_factory.mktemp("situations")
    for name, text in FILES.items():
        (folder / name).write_bytes(text.encode())
    for name, data in BYTES.items():
        (folder / name).write_bytes(data)
    for number, (start, rows, _) in enumerate(FOREIGN):
        (folder / f"{number}.txt").write_text(start + 10 * rows)
    for column, name in (("names", "names.bio"), ("ner_tags", "strings.jsonl")):
        seqtag.train(folder / name, min_count=1).save(folder / f"{column}.seqtag")
    return folder


@pytest.fixture
def say(folder, call, monkeypatch):
    """Run a command on the files; return its code, and all that it prints."""
    monkeypatch.chdir(folder)

    def said(line):
        more = ["-o", "out", "--force", "--epochs", "1"] if line[:5] == "train" else []
        done = call(*line.split(), *more)
        assert "Traceback" not in done.err
        return done.code, done.out.decode() + done.err + "\n".join(done.notes)

    return said


@pytest.mark.parametrize(("line", "expected"), RIGHT)
def test_what_is_clear_is_understood(line, expected, say):
    code, said = say(line)
    assert (code, expected in said) == (0, True), said


@pytest.mark.parametrize(("line", "expected"), REFUSED)
def test_what_is_not_is_refused_with_advice(line, expected, say):
    code, said = say(line)
    assert (code, expected in said) == (1, True), said


@pytest.mark.parametrize("place", range(len(FOREIGN)), ids=[name for *_, name in FOREIGN])
def test_formats_that_are_not_read_are_refused_by_name(place, say):
    expected = f"expected a corpus or text, found {FOREIGN[place][2]}"
    for line in ("train", "tag -m names.seqtag"):
        code, said = say(f"{line} {place}.txt")
        assert (code, expected in said) == (1, True), said


@pytest.mark.parametrize(("files", "env"), PROCESSES)
def test_processes_of_all_kinds_answer(files, env, folder):
    line = ["tag", "-q", "-m", folder / "names.seqtag", "--format", "tokens", *files]
    done = run(*line, stdin=b"Mira Falk sings .\n", env=env)
    assert done[:3] == (0, b"Mira\tB-PER\nFalk\tI-PER\nsings\tO\n.\tO\n\n", "")
