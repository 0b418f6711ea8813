"""UDPipe's interface: the requests of its clients, and the formats of its server."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import pytest

import seqtag
from seqtag.errors import SeqtagError
from seqtag.serve.models import ServedModels
from seqtag.serve.udpipe import process
from seqtag.serve.work import Deadline, RequestError
from seqtag.tagging.pipeline import Pipeline
from tests.command_line import call, home, posix
from tests.serve.served import server

httpx = pytest.importorskip("httpx", reason="httpx is not installed")
pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("starlette", reason="starlette is not installed")

NAME = "english-ewt-ud-2.15-241121"
API = "/services/udpipe/api"
TEXT = " Time  flies. It goes.\nNo stop\there\n\n\nNew par. More\r\nlast"

# As ufal.udpipe 1.4.0 writes TEXT with the tokenizer generic_tokenizer=presegmented;ranges.
PRESEGMENTED = r"""# newdoc
# newpar
# sent_id = 1
# text = Time flies. It goes.
1 Time SpacesBefore=\s|SpacesAfter=\s\s|TokenRange=1:5
2 flies SpaceAfter=No|TokenRange=7:12
3 . TokenRange=12:13
4 It TokenRange=14:16
5 goes SpaceAfter=No|TokenRange=17:21
6 . SpacesAfter=\n|TokenRange=21:22

# sent_id = 2
# text = No stop here
1 No TokenRange=23:25
2 stop SpacesAfter=\t|TokenRange=26:30
3 here SpacesAfter=\n\n\n|TokenRange=31:35

# newpar
# sent_id = 3
# text = New par. More
1 New TokenRange=38:41
2 par SpaceAfter=No|TokenRange=42:45
3 . TokenRange=45:46
4 More SpacesAfter=\r\n|TokenRange=47:51

# sent_id = 4
# text = last
1 last SpaceAfter=No|TokenRange=53:57

"""


@pytest.fixture(scope="module")
def en():
    return seqtag.load("en")


def short(conllu):
    """CoNLL-U without annotation, with spaces for tabs."""
    return conllu.replace("\t_" * 7, "").replace("\t", " ")


def answer(model, **fields):
    return process(model, fields, Deadline(60))[0]


# ----------------------------------------------------------------- formats
def test_presegmented(en):
    """One sentence a line; a blank line ends a paragraph."""
    fields = {"data": TEXT, "tokenizer": "presegmented;ranges"}
    assert short(answer(en, **fields)) == PRESEGMENTED
    assert short(answer(Pipeline([en.taggers[0].model]), **fields)) == PRESEGMENTED
    lines = "One two. Three\n" * 6000 + "\nFour\n"
    found = answer(en, data=lines, tokenizer="presegmented")
    assert found.count("# sent_id") == found.count("# text = One two. Three") + 1 == 6001
    assert found.count("# newpar") == 2


def test_blank_lines_between_two_blocks_of_text(en):
    found = answer(en, data="One.\n\n" * 30_000, tokenizer="presegmented")
    assert found.count("# newpar") == found.count("# sent_id") == 30_000


@pytest.mark.parametrize("kind", ["pipeline", "tagger"])
def test_a_line_that_is_too_long_is_cut(en, kind):
    model = en if kind == "pipeline" else Pipeline([en.taggers[0].model])
    found = answer(model, data="So it goes. " * 12_000, tokenizer="presegmented")
    assert found.count("# sent_id") <= 4


@pytest.mark.parametrize("kind", ["pipeline", "tagger"])
def test_normalized_spaces(en, kind):
    model = en if kind == "pipeline" else Pipeline([en.taggers[0].model])
    found = answer(model, data=TEXT, tokenizer="presegmented;normalized_spaces")
    assert "Spaces" not in found and found.count("SpaceAfter=No") == 4
    assert "TokenRange" not in found
    assert "# text = Time flies. It goes.\n" in found


def test_outputs(en):
    def result(output):
        return answer(en, data=TEXT, tokenizer="presegmented", output=output)

    assert result("plaintext") == TEXT
    assert result("plaintext=normalized_spaces") == (
        "Time flies. It goes.\nNo stop here\n\nNew par. More\nlast\n"
    )
    assert result("horizontal") == "Time flies . It goes .\nNo stop here\nNew par . More\nlast\n"
    assert "here\n\nNew" in result("horizontal=paragraphs")
    assert result("vertical").endswith("here\n\nNew\npar\n.\nMore\n\nlast\n\n")
    assert "here\n\n\nNew" in result("vertical=paragraphs")
    assert result("conllu=v2") == result("conllu") == result("")


def test_inputs(en):
    head = "# newdoc\n# newpar\n# sent_id = 1\n# text = It does\n1 It _\n2 does _\n\n"
    second = "# sent_id = 2\n# text = so x y\n1 so x _\n2 y _\n\n"
    third = "# newpar\n# sent_id = 3\n# text = new\n1 new _\n\n"
    horizontal = "It does\r\nso\u00a0x y\n\n\nnew\n"
    assert short(answer(en, data=horizontal, input="horizontal")) == head + second + third
    vertical = "It\ndoes\tX\n\nso x\ny\n\n\nnew"
    assert short(answer(en, data=vertical, input="vertical")) == head + second + third
    found = answer(en, data=horizontal, input="horizontal", output="horizontal")
    assert found == "It does\nso\u00a0x y\nnew\n"
    found = answer(
        en, data="it rains.\nc", input="generic_tokenizer=presegmented", output="horizontal"
    )
    assert found == "it rains .\nc\n"
    conllu = answer(en, data=TEXT, tokenizer="")
    assert answer(en, data=conllu.replace("\n", "\r\n"), input="conllu") == conllu
    assert answer(en, data="1\ta" + "\t_" * 8 + "\n\n", output="plaintext") == "a "


def test_remarks(en):
    fields = {
        "data": "a b.",
        "tokenizer": "presegmented;y;x;joint_with_parsing",
        "input": "vertical",
    }
    assert process(en, fields, Deadline(60))[1] == [
        "The tokenizer reads raw text: the input vertical is ignored.",
        "Unknown option of the tokenizer: 'x' (known: presegmented, ranges, normalized_spaces).",
    ]


@pytest.mark.parametrize("output", ["epe", "conllu=v1", "plaintext=x"])
def test_unknown_outputs(en, output):
    with pytest.raises(SeqtagError) as error:
        answer(en, data="", output=output)
    assert str(error.value) == (
        "expected output conllu, conllu=v2, horizontal, horizontal=paragraphs, vertical, "
        f"vertical=paragraphs, plaintext, plaintext=normalized_spaces, found {output!r}"
    )


# ----------------------------------------------------------------- names of models
@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("fr-gsd", "fr-gsd"),
        ("french", "fr-gsd"),
        ("fra", "fr-gsd"),
        ("french-gsd-ud-2.15-241121", "fr-gsd"),
        ("fr_gsd", "fr-gsd"),
        ("English", "en"),
        ("eng", "en"),
        ("english-ewt-ud-2.15", "en"),
        ("ancient_greek", "ancient_greek-proiel-ud-2.15-241121"),
        ("grc_proiel", "ancient_greek-proiel-ud-2.15-241121"),
        ("ancient_greek-proiel-ud-2.15", "ancient_greek-proiel-ud-2.15-241121"),
        ("up", "upos"),
        ("de", "german-gsd"),
        ("tr", "turkish@2.15"),
        ("turkish", "turkish@2.15"),
        ("dem", "demo"),
        (None, "fr-gsd"),
    ],
)
def test_names_of_models(en, name, found):
    names = ["fr-gsd", "en", "ancient_greek-proiel-ud-2.15-241121", "upos"]
    names += ["demo", "german-gsd", "turkish@2.15"]
    assert ServedModels([(each, en) for each in names]).find(name)[0] == found


@pytest.mark.parametrize("name", ["french-sequoia", "german", "x", "grc-perseus", "2.15"])
def test_other_names(en, name):
    models = ServedModels([("fr-gsd", en), ("grc-proiel-ud-2.15", en)])
    with pytest.raises(RequestError, match="expected one of the models fr-gsd, grc-proiel"):
        models.find(name)


# ----------------------------------------------------------------- requests
pytestmark = posix


@pytest.fixture(scope="module")
def address(home):
    allowed = "--allow-origin", "https://Example.org"
    with server("-m", f"{NAME}=en", "-m", home / "upos.seqtag", *allowed) as (_, where):
        yield where.removesuffix("/")


DATA = "Time+flies.+It+doesn%27t%21"
LINES = DATA + "%0ANo+stop+here%0A"
FORM = "application/x-www-form-urlencoded; charset=utf-8"


def multipart(**fields):
    """A form as udapi and UDPipe 2's client send it: lines end with CR LF."""
    head = (
        "--=1=\r\nMIME-Version: 1.0\r\nContent-Disposition: form-data; name={}\r\n"
        'Content-Transfer-Encoding: 8bit\r\nContent-Type: text/plain; charset="utf-8"\r\n\r\n'
    )
    return "".join(head.format(f'"{k}"') + v + "\r\n" for k, v in fields.items()) + "--=1=--\r\n"


@pytest.mark.parametrize(
    ("kind", "body", "sentences", "labels"),
    [
        # udapi 0.5.2: process_document, tokenize_tag_parse_tree, tag_parse_tree, segment_text
        (FORM, f"model=eng&tokenizer=presegmented&tagger=&parser=&data={LINES}", 2, True),
        (FORM, f"model=eng&tokenizer=&tagger=&parser=&data={LINES}", 3, True),
        (FORM, f"model=eng&tokenizer=presegmented%3Branges&tagger=&parser=&data={LINES}", 2, True),
        (FORM, f"model=eng&tokenizer=ranges&tagger=&parser=&data={LINES}", 3, True),
        (FORM, f"model=eng&tokenizer=presegmented&input=horizontal&data={LINES}", 2, False),
        (FORM, f"model=eng&data={DATA}&input=horizontal&tagger=&parser=", 1, True),
        # udapi's perform_request, and UDPipe 2's client
        (
            'multipart/form-data; boundary="=1="',
            multipart(model="eng", data="Time flies.\r\nNo.", tokenizer="presegmented", tagger=""),
            2,
            True,
        ),
        # anonymize-mcp 0.10.3, with httpx
        (
            "application/x-www-form-urlencoded",
            f"data={DATA}&model=english&tokenizer=ranges&tagger=&parser=none&output=conllu",
            2,
            True,
        ),
        # cl-conllu with Dexador
        (
            "application/x-www-form-urlencoded",
            f"tagger=&parser=&tokenizer=presegmented&model=english-ewt-ud-2.15&data={DATA}",
            1,
            True,
        ),
        # curl --data of UDPipe 2's manual: not encoded
        ("application/x-www-form-urlencoded", "tokenizer=&tagger=&data=Le café. Why?", 2, True),
    ],
)
def test_requests_of_clients(address, kind, body, sentences, labels):
    found = httpx.post(
        f"{address}{API}/process",
        content=body.encode(),
        headers={"Content-Type": kind},
        timeout=60,
    )
    assert found.status_code == 200, found.text
    value = found.json()
    assert [*value] == ["model", "acknowledgements", "result"]
    assert value["model"] == NAME
    assert value["result"].count("\n\n") == value["result"].count("# text = ") == sentences
    assert ("\tPUNCT\t" in value["result"] or "\tNOUN\t" in value["result"]) is labels
    assert ("TokenRange=0:4" in value["result"]) is ("ranges" in body)


def test_requests_by_get(address):
    found = httpx.get(f"{address}{API}/models").json()
    assert found == {
        "models": {NAME: ["tokenizer", "tagger"], "upos": ["tokenizer", "tagger"]},
        "default_model": NAME,
    }
    query = "tokenizer&tagger&parser&model=eng&data=Kafka%20sleeps."
    value = httpx.get(f"{address}{API}/process?{query}", timeout=60).json()
    assert "\tPUNCT\t" in value["result"]
    assert value == httpx.get(f"{address}/process?{query}", timeout=60).json()


@pytest.mark.parametrize(
    "data",
    ["x", "a b c\n", "1\tx\ty\n", "\0\1", "1\tx" + "\t_" * 8 + "\n3\tx" + "\t_" * 8 + "\n"],
)
def test_errors_do_not_speak_of_options(address, data):
    found = httpx.post(f"{address}/process", data={"data": data}, timeout=60)
    assert found.status_code == 400
    assert "expected" in found.text and ", found" in found.text
    assert "--" not in found.text


def test_pages_of_other_sites(address):
    ours = {"Origin": "https://example.org", "Sec-Fetch-Site": "cross-site"}
    found = httpx.get(f"{address}/models", headers=ours)
    assert found.status_code == 200
    assert found.headers["access-control-allow-origin"] == "https://example.org"
    asks = {
        **ours,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }
    found = httpx.options(f"{address}/api/tag", headers=asks)
    assert found.status_code == 200
    assert found.headers["access-control-allow-methods"] == "GET, POST"
    assert "content-type" in found.headers["access-control-allow-headers"].lower()
    for other in ({"Origin": "https://evil.example"}, {}):
        headers = {"Sec-Fetch-Site": "cross-site", **other}
        assert httpx.get(f"{address}/models", headers=headers).status_code == 403


@pytest.mark.parametrize("origin", ["example.org", "https://example.org/", "", "https://a b"])
def test_malformed_origins(call, home, origin):
    done = call("serve", "-m", home / "upos.seqtag", "--port", 0, "--allow-origin", origin)
    assert done.code == 1
    assert done.err == (
        "seqtag: expected an origin without a path, such as https://example.org or "
        f"http://localhost:3000, or *, found {origin!r}\n"
    )


def test_files_with_an_equals_sign(tmp_path, monkeypatch):
    from seqtag.cli.serve import _named

    monkeypatch.chdir(tmp_path)
    (tmp_path / "a=b").touch()
    assert _named("a=b") == ("", "a=b")
    assert _named("a=c") == ("a", "c")
    assert _named("s3://x/a=c") == ("", "s3://x/a=c")
    assert _named("a=") == ("", "a=")


# ----------------------------------------------------------------- udapi
@pytest.mark.parametrize("model", ["english", "en", "eng", "english-ewt-ud-2.15"])
def test_udapi(address, model):
    pytest.importorskip("udapi", reason="udapi is not installed")
    from udapi.core.document import Document
    from udapi.tool.udpipeonline import UDPipeOnline

    service = UDPipeOnline(model, server=address + API)
    assert service.list_models() == [NAME, "upos"]
    texts = ["Time flies. It doesn't!", "No stop here"]

    def processed(**options):
        document = Document()
        for text in texts:
            document.create_bundle().create_tree().text = text
        service.process_document(document, **options)
        return [*document.trees]

    trees = processed()
    assert [tree.text for tree in trees] == texts
    words = [word for tree in trees for word in tree.descendants]
    assert [token.form for token in trees[0].multiword_tokens] == ["doesn't"]
    expected = [
        word
        for text in texts
        for sentence in seqtag.load("en")(text).sentences
        for word in sentence.words
    ]
    assert [word.form for word in words] == [word.text for word in expected]
    assert words[0].upos == "NOUN" and words[0].lemma == "time"
    assert len(processed(resegment=True)) == 3
    ranged = processed(ranges=True)[1].descendants[0]
    assert ranged.misc["TokenRange"] == "24:26"
    assert service.segment_text("Time flies.  It\n doesn't!") == ["Time flies.", "It doesn't!"]
    [tree] = processed()[1:]
    service.tag_parse_tree(tree)
    assert tree.descendants[0].upos == "DET"
