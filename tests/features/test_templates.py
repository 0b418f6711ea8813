"""The template language: parse, print, compile, presets."""

from __future__ import annotations

import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.errors import TemplateError
from seqtag.features import attributes
from seqtag.features.language import load, parse
from seqtag.features.templates import AttributeUse, Template, TemplateSet, Term
from seqtag.settings import SETTINGS
from tests.features.template_files import message

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
        "encoding": st.sampled_from(SETTINGS["encoding"].choices),
        "dropout": st.floats(0, 1, exclude_max=True) | st.sampled_from(["rare", "auto"]),
        "label-parts": st.sampled_from(["whole", "split"]),
        "tag-dictionary": st.integers(0, 10**9),
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
        ("\nlower", "my.txt:2: expected a term such as form[0], suffix(3)[-1] or label[-1],"),
        ("form[0] +", "my.txt:1: expected a term such as form[0], suffix(3)[-1] or label[-1],"),
        ("2[0]", "my.txt:1: expected a term such as form[0], suffix(3)[-1] or label[-1], found"),
        ("form[0] pos[0]", "my.txt:1: expected + or the end of the line, found 'pos[0]'; write"),
        ("bias[0]", "my.txt:1: expected bias alone, found 'bias[0]'"),
        ("sufix(3)[0]", "my.txt:1: unknown attribute 'sufix' (did you mean 'suffix'?);"),
        ("suffix[0]", "my.txt:1: attribute 'suffix' takes the arguments (n: int), found ()"),
        ("suffix(3 pos)[0]", "my.txt:1: expected a column, then integers or strings in double"),
        ("suffix(3, pos)[0]", "my.txt:1: expected a column, then integers"),
        ("suffix(3,)[0]", "my.txt:1: expected a column, then integers"),
        ("lower(form, pos)[0]", "my.txt:1: expected a column, then integers"),
        ("lower[10]", 'my.txt:1: expected an offset from -9 to 9, found 10 in "lower[+10]";'),
        ("%10000[0]", "my.txt:1: expected a column that begins with a letter and has letters,"),
        ("label[-3]", "my.txt:1: expected the labels label[-1] or label[-2] + label[-1] (the"),
        ("label[-2]", "my.txt:1: expected the labels label[-1] or"),
        ("label[0] + form[0]", "my.txt:1: expected the labels label[-1] or"),
        ("label[-2] + label[-1] + pos[0]", "my.txt:1: label trigrams cannot see the words, found"),
        ("pos[0] + pos[0]", 'my.txt:1: expected distinct terms, found one twice in "pos[0] +'),
        ("pos[0]+pos[1]\n#\npos[1]+pos[0]", 'my.txt:3: the template "pos[+1] + pos[0]" is'),
        ("# nothing\nset epochs 3", "my.txt: expected at least one template, found none; for"),
        ("set epochs", "my.txt:1: expected a setting such as set epochs 10, found 'set epochs'"),
        ("set epoch 3", "my.txt:1: unknown setting 'epoch' (did you mean 'epochs'?); settings"),
        ("set epochs 3\nset epochs 3", "my.txt:2: the setting epochs occurs twice; remove one"),
        ("set epochs 0", "my.txt:1: the setting epochs expects an integer from 1, at most"),
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
        match="epochs expects an integer from 1, at most 1,000,000,000, found True",
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


def test_unknown_column():
    assert message("\nform[0] + posx[0]", ["form", "pos"]).startswith(
        "my.txt:2: unknown column 'posx' in \"posx[0]\" (did you mean 'pos'?); columns are form, "
        "pos; attributes are class, flags, form,"
    )
    assert message("sufx[0]", ["form"]).startswith(
        "my.txt:1: unknown column 'sufx' in \"sufx[0]\" (did you mean 'suffix'?); columns are form;"
    )
    assert message("form[0]", ["word"]).startswith(
        "my.txt:1: unknown column 'form' in \"form[0]\"; columns are word; attributes are class, "
    )
    assert message("lower(lemma)[0]", []).startswith(
        "my.txt:1: unknown column 'lemma' in \"lower(lemma)[0]\"; columns are none; attributes"
    )
    assert message("%2[-1]", ["form", "pos"]) == (
        'my.txt:1: no column %2 in "%2[-1]"; columns are %0 form, %1 pos'
    )


def test_user_attribute(registry):
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
        ("clitics", ["char", "start", "end", "token", "form", "before", "after"]),
    ],
)
def test_preset(name, columns):
    template_set = load(name)
    compiled = template_set.compile(columns)
    assert 20 <= len(compiled.templates) <= 44
    assert compiled.columns == tuple(columns)
    assert compiled.bigram
    assert compiled.trigram == (template_set.order == 2)
    assert list(template_set.settings) == list(SETTINGS)  # nothing is left to the trainer
    if template_set.settings["tag-dictionary"]:
        assert AttributeUse("form", "normal") in compiled.attributes
    assert parse(str(template_set)) == template_set
    with pytest.raises(TemplateError, match=rf"^{name}\.txt:\d+: unknown column"):
        template_set.compile(["word"])


def test_load_file(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_bytes('\ufeffform[0]\r\nmatch("é")[0]\r\n'.encode())
    assert load(path) == load(str(path)) == parse('form[0]\nmatch("é")[0]')
    path.write_bytes(b"form[0]\n\xe9[0]\n")
    with pytest.raises(TemplateError) as caught:
        load(path)
    assert str(caught.value) == (
        f"{path}:2: expected UTF-8, found the byte 0xe9 at byte offset 8; convert the file to "
        "UTF-8, for example with iconv -f ENCODING -t UTF-8"
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
        "expected a preset or a template file, found neither of the name 'chunks' (did you mean "
        "'chunk'?); presets are chunk, clitics, feats, lemma, morph, morph-tags, multiword, "
        "ner, pos, segment, sentences, xpos"
    )
