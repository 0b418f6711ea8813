"""The template language: parse, print, compile, presets, files of CRF++ and Wapiti."""

from __future__ import annotations

import pickle
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.errors import TemplateError
from seqtag.features import attributes
from seqtag.features.language import _BEFORE_COMMENT, load, parse, preset_names
from seqtag.features.templates import STRING, AttributeUse, Template, TemplateSet, Term
from seqtag.settings import SETTINGS


def message(text: str, columns: list[str] | None = None) -> str:
    """What is said about a template file (and, when it is read, about these columns)."""
    with pytest.raises(TemplateError) as caught:
        templates = parse(text, "my.txt")
        assert columns is not None, f"parsed: {templates}"
        templates.compile(columns)
    return str(caught.value)


# Reading and printing.


def test_every_kind_of_line():
    templates = parse(
        "# a comment\n\nbias\r\n form[0] \npos[-2]+ pos[ -1 ] +pos[0]\nsuffix(3)[0]\n"
        'suffix ( lemma , 2 )[1]  # the ending of the lemma\nmatch("a # (b)\\"")[0]\t# why\n'
        "lower(form)[0]\nform(lower)[0]\n%1[0]\nlower(%1)[+2]\nprefix(ud:kept, 2)[0]\n"
        "label[-1]\nlabel[-1] + pos[0]\nlabel[-1] + label[-2]\nset epochs  10\nset step 1e-1"
    )
    assert [template.terms for template in templates.templates] == [
        (),
        (Term("form"),),
        (Term("form", "pos", (), -2), Term("form", "pos", (), -1), Term("form", "pos")),
        (Term("suffix", args=(3,)),),
        (Term("suffix", "lemma", (2,), 1),),
        (Term("match", args=('a # (b)\\"',)),),
        (Term("lower"),),
        (Term("form", "lower"),),
        (Term("form", 1),),
        (Term("lower", 1, (), 2),),
        (Term("prefix", "ud:kept", (2,)),),
        (),
        (Term("form", "pos"),),
        (),
    ]
    assert [t.label_offsets for t in templates.templates[-3:]] == [(-1,), (-1,), (-2, -1)]
    assert templates.settings == {"epochs": 10, "step": 0.1}
    assert templates.templates[0].line == 3
    assert str(templates).splitlines() == [
        "bias",
        "form[0]",
        "pos[-2] + pos[-1] + pos[0]",
        "suffix(3)[0]",
        "suffix(lemma, 2)[+1]",
        'match("a # (b)\\"")[0]',
        "lower[0]",
        "form(lower)[0]",
        "%1[0]",
        "lower(%1)[+2]",
        "prefix(ud:kept, 2)[0]",
        "label[-1]",
        "label[-1] + pos[0]",
        "label[-2] + label[-1]",
        "set epochs 10",
        "set step 0.1",
    ]


names = st.from_regex(r"[^\W\d][\w.:-]*", fullmatch=True)
columns = st.one_of(
    names,
    st.sampled_from(["form", "pos", "lower", "label", "bias", "set", "b:1"]),
    st.integers(0, 9999),
)
strings = st.lists(st.sampled_from(["a", "#", " ", "%x[0,0]", "\\\\", '\\"', "(", "+", "]", ","]))
offsets = st.integers(-9, 9)
terms = st.one_of(
    st.builds(Term, st.sampled_from(["form", "lower", "flags"]), columns, st.just(()), offsets),
    st.builds(Term, st.just("suffix"), columns, st.tuples(st.integers(1, 10**9 - 1)), offsets),
    st.builds(
        Term,
        st.just("test"),
        columns,
        st.tuples(strings.map("".join).map(lambda s: re.sub(r"[()+*]", r"\\\g<0>", s))),
        offsets,
    ),
)
templates = st.one_of(
    st.builds(
        Template, st.lists(terms, max_size=4, unique=True).map(tuple), st.sampled_from([(), (-1,)])
    ),
    st.just(Template((), (-2, -1))),
)
settings = st.fixed_dictionaries(
    {},
    optional={
        "epochs": st.integers(1, 10**9),
        "update": st.sampled_from(["perceptron", "pa", "adaptive"]),
        "step": st.floats(0, 1e6, exclude_min=True),
        "margin": st.floats(0, 1e6),
        "min-count": st.integers(1, 10**9),
        "encoding": st.sampled_from(["keep", "iob2", "iobes", "bilou"]),
        "dropout": st.floats(0, 1, exclude_max=True),
        "label-parts": st.sampled_from(["whole", "split"]),
        "known-labels": st.integers(0, 10**9),
    },
)
template_sets = st.builds(
    TemplateSet,
    st.lists(
        templates, min_size=1, max_size=5, unique_by=lambda t: (frozenset(t.terms), t.label_offsets)
    ).map(tuple),
    settings,
)


@given(template_sets)
def test_parse_reads_what_str_writes(template_set):
    assert parse(str(template_set)) == template_set


@given(st.text(alphabet='lower[-10]+ #"\\(),%xUB*:\nlabeset', max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        template_set = parse(text, "my.txt")
    except TemplateError as error:
        assert str(error).startswith("my.txt:")
    else:
        assert parse(str(template_set)) == template_set


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("bias", 0),
        ("form[0]\nlabel[-1]", 1),
        ("label[-1] + form[0]", 1),
        ("label[-2] + label[-1]\nlabel[-1]", 2),
    ],
)
def test_order(text, order):
    assert parse(text).order == order


# What is refused, and how.


@pytest.mark.parametrize(
    ("text", "start"),
    [
        (
            "\nlower",
            "my.txt:2: expected a term such as form[0], suffix(3)[-1] or label[-1], "
            "found 'lower'; an offset in brackets ends every term",
        ),
        (
            "form[0] +",
            "my.txt:1: expected a term such as form[0], suffix(3)[-1] or label[-1], "
            "found ''; an offset",
        ),
        (
            "2[0]",
            "my.txt:1: expected a term such as form[0], suffix(3)[-1] or label[-1], found "
            "'2[0]'; an offset in brackets ends every term, + joins them, only bias stands "
            "alone, and columns without a name are %0, %1, ...",
        ),
        (
            "form[0] pos[0]",
            "my.txt:1: expected + or the end of the line, found 'pos[0]'; "
            "write one template a line",
        ),
        ("bias[0]", "my.txt:1: expected bias alone, found 'bias[0]'"),
        (
            "sufix(3)[0]",
            "my.txt:1: unknown attribute 'sufix', did you mean 'suffix'?; attributes are flags,",
        ),
        ("suffix[0]", "my.txt:1: attribute 'suffix' takes the arguments (n: int), found ()"),
        (
            "suffix(3 pos)[0]",
            "my.txt:1: expected a column, then whole numbers or strings in double "
            "quotes, with commas between, found '3 pos' in 'suffix(3 pos)[0]'",
        ),
        ("suffix(3, pos)[0]", "my.txt:1: expected a column, then whole"),
        ("suffix(3,)[0]", "my.txt:1: expected a column, then whole"),
        ("lower(form, pos)[0]", "my.txt:1: expected a column, then whole"),
        (
            "lower[10]",
            'my.txt:1: expected an offset from -9 to 9, found 10 in "lower[+10]"; '
            "name a nearer word",
        ),
        (
            "%10000[0]",
            "my.txt:1: expected a column that begins with a letter and has letters, "
            "digits and _ . : - only, or its number from 0 (written %0, %1, ...), "
            "found 10000",
        ),
        (
            "label[-3]",
            "my.txt:1: expected the labels label[-1] or label[-2] + label[-1] (the "
            'current label is always there), found "label[-3]"',
        ),
        ("label[-2]", "my.txt:1: expected the labels label[-1] or"),
        ("label[0] + form[0]", "my.txt:1: expected the labels label[-1] or"),
        (
            "label[-2] + label[-1] + pos[0]",
            "my.txt:1: label trigrams cannot see the words, found "
            '"label[-2] + label[-1] + pos[0]"; write label[-2]',
        ),
        (
            "pos[0] + pos[0]",
            'my.txt:1: expected different terms, found one twice in "pos[0] + pos[0]"',
        ),
        (
            "pos[0]+pos[1]\n#\npos[1]+pos[0]",
            'my.txt:3: the template "pos[+1] + pos[0]" is on line 1 already; remove one',
        ),
        (
            "# nothing\nset epochs 3",
            "my.txt: expected at least one template, found none; write form[0], say",
        ),
        ("set epochs", "my.txt:1: expected a setting such as set epochs 10, found 'set epochs'"),
        (
            "set epoch 3",
            "my.txt:1: unknown setting 'epoch', did you mean 'epochs'?; settings are "
            "epochs, update, step, margin, min-count, encoding, dropout",
        ),
        ("set epochs 3\nset epochs 3", "my.txt:2: the setting epochs is made twice; remove one"),
        (
            "set epochs 0",
            "my.txt:1: the setting epochs expects a whole number from 1, at most 1,000,000,000, found 0",
        ),
        (
            "set epochs 1.5",
            "my.txt:1: the setting epochs expects a whole number from 1, at most 1,000,000,000, found '1.5'",
        ),
        (
            "set update sgd",
            "my.txt:1: the setting update expects perceptron, pa or adaptive, found 'sgd'",
        ),
        (
            "set step 0",
            "my.txt:1: the setting step expects a number above 0, at most 1,000,000, found 0.0",
        ),
        (
            "set step nan",
            "my.txt:1: the setting step expects a number above 0, at most 1,000,000, found nan",
        ),
        (
            "set margin -1",
            "my.txt:1: the setting margin expects a number from 0, at most 1,000,000, found -1.0",
        ),
        (
            "set min-count 0",
            "my.txt:1: the setting min-count expects a whole number from 1, at most 1,000,000,000, found 0",
        ),
        (
            "set encoding BIO",
            "my.txt:1: the setting encoding expects keep, iob2, iobes or bilou, found 'BIO'",
        ),
        (
            "set label-parts all",
            "my.txt:1: the setting label-parts expects whole or split, found 'all'",
        ),
        (
            "set known-labels -1",
            "my.txt:1: the setting known-labels expects a whole number from 0, at most 1,000,000,000, found -1",
        ),
        (
            "set dropout 1",
            "my.txt:1: the setting dropout expects a number from 0 to below 1, found 1.0",
        ),
    ],
)
def test_parse_error(text, start):
    assert message(text).startswith(start)


def test_parts_made_in_code_are_checked_too():
    with pytest.raises(TemplateError, match=r"expected a column .* found 'two words'"):
        Term("form", "two words")
    with pytest.raises(TemplateError, match="expected an argument of up to 9 digits, found 1000"):
        Term("suffix", args=(10**9,))
    for text in ('"', "\\", "a\nb"):
        with pytest.raises(TemplateError, match="without line breaks and bare quotes, found"):
            Term("match", args=(text,))
    with pytest.raises(TemplateError) as caught:
        TemplateSet((Template((Term("lower"),)), Template((Term("lower"),))))
    assert str(caught.value) == 'the template "lower[0]" occurs twice; remove one'
    with pytest.raises(
        TemplateError,
        match="epochs expects a whole number from 1, at most 1,000,000,000, found True",
    ):
        TemplateSet((Template(()),), {"epochs": True})
    assert TemplateSet((Template(()),), {"margin": 1}).settings == {"margin": 1.0}


# Compiling.


def test_compile():
    compiled = parse(
        "bias\nlower[0]\nlower[-1] + pos[0]\nsuffix(lemma, 2)[+1]\n%0[0]\nlabel[-1] + pos[-1]"
    ).compile(["form", "lemma", "xpos", "pos"])
    assert compiled.columns == ("form", "lemma", "pos")
    assert compiled.attributes == (
        AttributeUse("form", "lower"),
        AttributeUse("pos", "form"),
        AttributeUse("lemma", "suffix", (2,)),
        AttributeUse("form", "form"),
    )
    assert compiled.templates == ((), ((0, 0),), ((0, -1), (1, 0)), ((2, 1),), ((3, 0),))
    assert compiled.edges == (((1, -1),),)
    assert (compiled.bigram, compiled.trigram) == (False, False)
    assert compiled.apply(2, "Walked") == compiled.functions[2]("Walked") == "ed"
    assert pickle.loads(pickle.dumps(compiled)) == compiled


@pytest.mark.parametrize(
    ("text", "bigram", "trigram"),
    [("bias", False, False), ("label[-1]", True, False), ("label[-2] + label[-1]", True, True)],
)
def test_compile_label_templates(text, bigram, trigram):
    compiled = parse(text).compile(["form"])
    assert (compiled.bigram, compiled.trigram) == (bigram, trigram)
    assert compiled.templates == (((),) if text == "bias" else ())
    assert compiled.edges == compiled.attributes == compiled.columns == ()


def test_unknown_column():
    assert message("\nform[0] + posx[0]", ["form", "pos"]).startswith(
        "my.txt:2: unknown column 'posx' in \"posx[0]\", did you mean 'pos'?; columns are form, "
        "pos; attributes are flags, form,"
    )
    assert message("sufx[0]", ["form"]).startswith(
        "my.txt:1: unknown column 'sufx' in \"sufx[0]\", did you mean 'suffix'?; columns are form;"
    )
    assert message("lower(lemma)[0]", []).startswith(
        "my.txt:1: unknown column 'lemma' in \"lower(lemma)[0]\"; columns are none; attributes"
    )
    assert message("%2[-1]", ["form", "pos"]) == (
        'my.txt:1: no column %2 in "%2[-1]"; columns are %0 form, %1 pos'
    )


def test_unknown_attribute_when_compiling():
    with pytest.raises(TemplateError, match=r"^unknown attribute 'nope'; attributes are flags,"):
        TemplateSet((Template((Term("nope"),)),)).compile(["form"])


def test_user_attribute(monkeypatch):
    monkeypatch.setattr(attributes, "_REGISTRY", dict(attributes._REGISTRY))
    assert parse("gazetteer[0]").templates[0].terms == (Term("form", "gazetteer"),)

    @attributes.attribute("gazetteer")
    def gazetteer(word: str) -> str | None:
        return "city" if word in ("Paris", "Rome") else None

    template_set = parse("gazetteer[0]\nform(gazetteer)[0]")
    assert [template.terms[0].function for template in template_set.templates] == [
        "gazetteer",
        "form",
    ]
    assert parse(str(template_set)) == template_set
    compiled = template_set.compile(["form", "gazetteer"])
    assert compiled.apply(0, "Paris") == "city"
    assert compiled.apply(0, "paris") is None


# Presets and files.


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("pos", ["form"]),
        ("chunk", ["form", "pos"]),
        ("ner", ["form"]),
        ("morph", ["form"]),
        ("multiword", ["char", "start", "end", "token", "form", "before", "after"]),
    ],
)
def test_preset(name, columns):
    template_set = load(name)
    compiled = template_set.compile(columns)
    assert 20 <= len(compiled.templates) <= 40
    assert compiled.columns == tuple(columns)
    assert compiled.bigram
    assert compiled.trigram == (template_set.order == 2)
    assert list(template_set.settings) == list(SETTINGS)  # nothing is left to the trainer
    if template_set.settings["known-labels"]:
        assert AttributeUse("form", "normal") in compiled.attributes
    assert parse(str(template_set)) == template_set
    with pytest.raises(TemplateError, match=rf"^{name}\.txt:\d+: unknown column"):
        template_set.compile(["word"])


def test_preset_names():
    assert ", ".join(preset_names()) == (
        "chunk, feats, lemma, morph, multiword, ner, pos, segment, upos, xpos"
    )


def test_load_file(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_bytes('\ufeffform[0]\r\nmatch("é")[0]\r\n'.encode())
    assert load(path) == load(str(path)) == parse('form[0]\nmatch("é")[0]')
    path.write_bytes(b"form[0]\n\xe9[0]\n")
    with pytest.raises(TemplateError) as caught:
        load(path)
    assert str(caught.value) == (
        f"{path}:2: expected UTF-8, found the byte 0xe9 at byte offset 8; convert the file to "
        "UTF-8, from EUC-JP for example with iconv -f EUC-JP -t UTF-8"
    )
    path.write_text("form[0]\nform")
    with pytest.raises(TemplateError, match=re.escape(f"{path}:2: expected a term")):
        load(path)
    with pytest.raises(OSError, match=r"irectory|denied"):
        load(tmp_path)


def test_load_unknown():
    with pytest.raises(TemplateError) as caught:
        load("chunks")
    assert str(caught.value) == (
        "expected a preset or a template file, found neither of the name 'chunks', did you mean "
        "'chunk'?; presets are chunk, feats, lemma, morph, multiword, ner, pos, segment, upos, xpos"
    )


# CRF++ and Wapiti.

CRFPP_FILE = r"""
# words
U00:%x[-1,0]
U01:%x[0,0]
U02:%x[-1,0]/%x[0,0]
u_lower X=%X[ 0,0]

*:Suf-3=%m[ 0,0,".?.?.?$"]
*:Caps=%t[+1,0,"^\u"]
*T:%T[-1,1,"\P*a"]
U10:%M[0,0,"\d\d*"]
U
B10:%x[0,1]
B
set epochs 5
"""


def test_crfpp_file():
    template_set = parse(CRFPP_FILE)
    assert str(template_set).splitlines() == [
        "%0[-1]",
        "%0[0]",
        "%0[-1] + %0[0]",
        "lower(%0)[0]",
        r'match(%0, ".?.?.?\Z")[0]',
        r'label[-1] + match(%0, ".?.?.?\Z")[0]',
        r'test(%0, "^[A-Z]")[+1]',
        r'label[-1] + test(%0, "^[A-Z]")[+1]',
        r'test(%1, "[^!-/:-@\[-`{-~]*?a")[-1]',
        r'label[-1] + test(%1, "[^!-/:-@\[-`{-~]*?a")[-1]',
        'match_lower(%0, "[0-9][0-9]*?")[0]',
        "bias",
        "label[-1] + %1[0]",
        "label[-1]",
        "set epochs 5",
    ]
    assert template_set.templates[5].line == template_set.templates[4].line == 8
    assert parse(str(template_set)) == template_set
    compiled = template_set.compile(["form", "pos"])
    assert [compiled.apply(i, "Boeing747") for i in range(5)] == [
        "Boeing747",
        "boeing747",
        "747",
        "1",
        "0",
    ]
    assert len(compiled.edges) == 4


def test_wapiti_punctuation():
    compiled = parse(r'U:%m[0,0,"^\p*$"]').compile(["form"])
    assert compiled.apply(0, string.punctuation) == string.punctuation
    assert compiled.apply(0, "é") == ""


@pytest.mark.parametrize(
    ("regex", "word", "value"),
    [
        ("^.?.?", "Walk", "Wa"),
        (".?.?$", "Walk", "lk"),
        (".?.?.?$", "a", "a"),
        (r"\u\l*$", "McDonald", "Donald"),
        (r"^\u*$", "McD", ""),
        (r"\a*", "abc", ""),  # the star is lazy
        (r"\p\w\W", "x-1%", "-1%"),
        (r"\.\*\?\$", "a.*?$", ".*?$"),
        (r"a+(b)[c]|^$d", "a+(b)[c]|^$d", "a+(b)[c]|^$d"),  # literal in Wapiti
        (r"\"\s\S", 'x" y', '" y'),
        (r"\\", "a\\b", "\\"),
        (r"\A\D\L\U", "1aAa", "1aAa"),
        ("", "abc", ""),
    ],
)
def test_wapiti_regex(regex, word, value):
    compiled = parse(f'U:%m[0,0,"{regex}"]').compile(["form"])
    assert compiled.apply(0, word) == value


@pytest.mark.parametrize(
    ("line", "start"),
    [
        (
            "U:%y[0,0]",
            'expected macros %x[row,col], %m[row,col,"regex"] or %t[row,col,"regex"] '
            "with a row relative to the current word, found '%y[0,0]'",
        ),
        ("U:%x[@1,0]", "expected macros"),
        ("U:%x[0]", "expected macros"),
        (
            "U:%m[0,0]",
            "expected a regular expression in %m and %t, and none in %x, found '%m[0,0]'",
        ),
        ('U:%x[0,0,"a"]', "expected a regular expression in %m and %t, and none in %x"),
        (
            'U:%t[0,0,"*a"]',
            'expected a character before * in the regular expression "*a"; '
            "write \\* for the character itself",
        ),
        ('U:%t[0,0,"a?*"]', "expected a character before *"),
        ("U:%x[10,0]", "expected an offset from -9 to 9, found 10"),
        (
            "X:%x[0,0]",
            "expected a CRF++ or Wapiti template that begins with U, B or *, found 'X:%x[0,0]'",
        ),
    ],
)
def test_crfpp_error(line, start):
    assert message(f"U:%x[0,0]\n{line}").startswith(f"my.txt:2: {start}")


def test_a_foreign_template_that_is_repeated_is_kept_once(caplog):
    text = "# Unigram\nU00:%x[0,0]\n\nU01:%x[0,1]/%x[0,0]\nU02:%x[0,0]\nU03:%x[0,0]/%x[0,1]\nB\n"
    assert parse(text, "a") == parse("U:%x[0,0]\nU:%x[0,1]/%x[0,0]\nB\n")
    assert caplog.messages == [
        "a:5: the template is on line 2 already; it is kept once",
        "a:6: the template is on line 4 already; it is kept once",
    ]
    caplog.clear()
    assert parse("*:%x[0,0]\nB:%x[0,0]\nU:%x[0,1]\nB\n*\n") == parse("*:%x[0,0]\nU:%x[0,1]\nB\nU\n")
    assert [message.split(":")[1] for message in caplog.messages] == ["2", "5"]
    assert "is on line 1 already; remove one" in message("form[0]\nform[0]")


def test_a_column_that_looks_like_crfpp():
    assert parse("u:x[0]").templates[0].terms == (Term("form", "u:x"),)


# Lines that take long to read.


@pytest.mark.parametrize(
    ("line", "length"),
    [
        ('\\"' * 40_000, 80_000),
        ('"' * 40_001, 40_001),
        ("form" + " " * 40_000 + "x", 40_005),
        ("form[0]" + "#" * 40_000, 40_007),
    ],
)
def test_long_lines_are_refused(line, length):
    assert message(f"form[0]\n{line}") == (
        f"my.txt:2: expected a line of at most 2,000 characters, found {length:,}; "
        "write one template a line"
    )


def test_long_comments_are_none_of_the_line():
    assert str(parse("form[0] # " + '\\"' * 40_000)) == "form[0]\n"
    assert str(parse("# " + '"' * 40_001 + "\nform[0]")) == "form[0]\n"


@given(st.text('"\\# a', max_size=12))
def test_comments_begin_at_a_hash_after_space_that_is_in_no_string(text):
    kept, position = "", 0
    while position < len(text):
        string = re.compile(STRING).match(text, position)
        if string:
            kept, position = kept + string[0], string.end()
            continue
        if text[position] == "#" and (not position or text[position - 1].isspace()):
            break
        kept, position = kept + text[position], position + 1
    assert _BEFORE_COMMENT.match(text)[0] == kept


# Numbers of templates.


def test_too_many_templates_are_refused_before_the_rest_is_read():
    lines = [f"prefix({number})[0]" for number in range(1, 2002)]
    assert len(parse("\n".join(lines[:2000])).templates) == 2000
    assert message("\n".join([*lines, "what is this?"])) == (
        "my.txt:2001: expected at most 2,000 templates with 10,000 terms together, "
        "found 2,001 with 2,001; leave some out"
    )


def test_too_many_terms_are_refused():
    ahead = " + ".join(f"form[{offset}]" for offset in range(9))
    lines = [f"{ahead} + prefix({number})[0]" for number in range(1, 1002)]
    assert len(parse("\n".join(lines[:1000])).templates) == 1000
    assert message("\n".join(lines)) == (
        "my.txt:1001: expected at most 2,000 templates with 10,000 terms together, "
        "found 1,001 with 10,010; leave some out"
    )


def test_a_set_of_too_many_templates_cannot_be_made():
    templates = tuple(Template((Term("prefix", args=(n,)),)) for n in range(1, 2002))
    with pytest.raises(TemplateError, match="at most 2,000 templates with 10,000 terms together"):
        TemplateSet(templates)


def test_more_attributes_than_memory_has_room_for_are_refused():
    text = "".join(f"suffix({n})[0] + prefix({n})[0]\n" for n in range(1, 129))
    assert len(parse(text).compile(["form"]).attributes) == 256
    more = parse(text + "suffix(1)[+1]\nform[0] + suffix(129)[-1]\n", source="my.txt")
    with pytest.raises(TemplateError) as error:
        more.compile(["form"])
    assert str(error.value) == (
        "my.txt:130: expected templates that look at 256 different attributes at most, found "
        '"form[0]" beyond; leave some out'
    )
