"""Sphinx extension for what the site shows differently from the Markdown files.

- Formulas become MathML, which browsers draw without a library.
- List items of index pages that begin with a link make the navigation, one group for each heading.
- Each command gets a page, made from its click objects, in docs/reference/commands (not in git).
- Inline code that names a command or a public Python object becomes a link to it.
- A `<picture>` becomes two images, one for light and one for dark pages.
- The page of the model card is models/en.md.
- Anchors of sections, such as `<a id="theory"></a>`, become targets of MyST.
- Links to files of the repository that are not pages keep their text only.
- docs/play is copied, with its model: scripts/play_page.py.
- A paragraph that is only a link to play/index.html?embed=NAME shows that figure, with its caption.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import play_page
from docutils import nodes
from latex2mathml.converter import convert
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import inspect
from sphinx.util.docstrings import prepare_docstring
from sphinx.util.nodes import make_refnode

from seqtag.cli import COMMAND_GROUPS, COMMANDS, cli
from seqtag.cli.base import GROUPS, option_groups

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

ROOT = Path(__file__).resolve().parents[1]
INDEXES = ("index", "how-to/index", "reference/index", "explanation", "lecture")
OVERVIEW = "reference/commands"
KINDS = {1: ("function", "class", "exception"), 2: ("method", "property", "attribute")}
CARD = "reference/model-en"
_ENTRY = re.compile(r"^#+ (.+)$|^- \**\[([^\]]+)\]\(([^)#:]+)\.md\)", re.MULTILINE)
_OUTSIDE = re.compile(r"(?<!!)\[([^\]]+)\]\(((?:\.\./)+[^)]*)\)")
_CODE = re.compile(rf"(?<![\w`-])(?:--[a-z][a-z-]*|seqtag (?:{'|'.join(COMMANDS)}))\b(?!`)")
_ANCHOR = re.compile(r'^<a id="([\w-]+)"></a>$', re.MULTILINE)
_PLAY = re.compile(r"\[([^\]]+)\]\(([./]*play/index\.html[^)]*)\)")
_FIGURE = re.compile(r"^\[([^\]]+)\]\(([./]*play/index\.html\?embed=([\w-]+))\)$", re.MULTILINE)
_HEIGHTS = {
    "strips": (44, 54), "viterbi": (45, 45), "structured": (44, 48), "bars": (39, 44), "no-line": (44, 46),
}  # fmt: skip
"""Heights of figures, in rem: on wide and on narrow pages; of others, those of site.css."""
_PICTURE = re.compile(
    r'<picture>.*?srcset="([^"]+)".*?<img [^>]*?alt="([^"]*)" src="([^"]+)".*?</picture>', re.DOTALL
)


def mathml(formula: str, options: dict[str, bool]) -> str:
    """Return a formula as MathML, in a paragraph of its own if it is displayed."""
    display = "block" if options["display_mode"] else "inline"
    return convert(formula.replace(r"\arg", r"\mathrm{arg}"), display=display)


def _visit_math(translator: Any, node: nodes.Element) -> None:
    block = isinstance(node, nodes.math_block)
    translator.body.append(mathml(node.astext(), {"display_mode": block}))
    raise nodes.SkipNode


# ----------------------------------------------------------------------------- Markdown
def read_page(app: Sphinx, name: str, content: list[str]) -> None:
    """Change the Markdown of a page before it is parsed."""
    text = content[0]
    if name == CARD:
        text = (ROOT / "models" / "en.md").read_text("utf-8")
        text = re.sub(r"(?<!!)\[([^\]]+)\]\([^):#]+\)", r"\1", text)
        app.env.note_dependency(ROOT / "models" / "en.md")
    folder = posixpath.dirname(name)

    def link(found: re.Match[str]) -> str:
        outside = posixpath.normpath(posixpath.join(folder, found[2])).startswith("..")
        return found[1] if outside else found[0]

    text = _FIGURE.sub(_live_figure, text)
    text = _OUTSIDE.sub(link, text)
    text = _ANCHOR.sub(r"(\1)=", text)
    text = _PLAY.sub(r'<a href="\2">\1</a>', text)
    text = _PICTURE.sub(_both_pictures, text)
    text = text.replace("\n\n```\n", "\n```\n")  # doctests end with a blank line
    if name in INDEXES:
        text += "".join(_toctrees(text))
    if name == OVERVIEW:
        text += "".join(_overview())
    content[0] = text


def _live_figure(found: re.Match[str]) -> str:
    caption, address, name = found.groups()
    page = address.partition("?")[0]
    wide, narrow = _HEIGHTS.get(name, (39, 39))
    style = f"--wide: {wide}rem; --narrow: {narrow}rem"
    return (
        f'<figure class="play" style="{style}">'
        f'<iframe src="{address}" title="{caption}" loading="lazy"></iframe>'
        f'<figcaption><a href="{page}#{name}">{caption}</a></figcaption></figure>'
    )


def _both_pictures(found: re.Match[str]) -> str:
    dark, alt, light = found.groups()
    return "\n\n".join(
        f"```{{image}} {path}\n:alt: {alt}\n:class: only-{mode}\n```"
        for path, mode in ((light, "light"), (dark, "dark"))
    )


def _toctrees(text: str) -> Iterator[str]:
    """Yield the navigation of an index page: what its lists link, by heading."""
    caption, pages = "", []
    for heading, title, page in [*_ENTRY.findall(text), ("end", "", "")]:
        if not heading:
            pages.append(f"{title} <{page}>")
            continue
        if pages:
            yield _toctree(caption, pages)
        caption, pages = heading, []


def _toctree(caption: str, pages: list[str]) -> str:
    return f"\n\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(pages) + "\n```\n"


# ----------------------------------------------------------------------------- commands
def _commands(
    context: click.Context, command: click.Command
) -> Iterator[tuple[click.Context, click.Command]]:
    """Yield a command, and after a group of commands those of the group."""
    yield context, command
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None, name
            yield from _commands(click.Context(child, context, name), child)


def _overview() -> Iterator[str]:
    """Yield the list of commands and their navigation."""
    for title, texts in COMMAND_GROUPS.items():
        yield f"\n## {title}\n\n"
        yield from (f"- [`seqtag {name}`](commands/{name}.md): {texts[name]}\n" for name in texts)
        yield _toctree(title, [f"commands/{name}" for name in texts])


def write_command_pages(app: Sphinx) -> None:
    """Write a page for each command; pages that have not changed stay."""
    folder = Path(app.srcdir, OVERVIEW)
    folder.mkdir(exist_ok=True)
    pages: dict[str, str] = {}
    for context, command in _commands(click.Context(cli, info_name="seqtag"), cli):
        if command is not cli:
            name = context.command_path.split()[1]
            pages[name] = pages.get(name, "") + "".join(_described(context, command))
    for path in folder.glob("*.md"):
        if path.stem not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def _described(context: click.Context, command: click.Command) -> Iterator[str]:
    """Yield the Markdown that describes a command."""
    path = context.command_path
    level = "#" * path.count(" ")
    usage = " ".join([path, *command.collect_usage_pieces(context)])
    examples = ""
    yield f"{level} {path}\n\n"
    for paragraph in re.split(r"\n\s*\n", command.help or ""):
        first, *others = [line.strip() for line in paragraph.strip().splitlines()]
        if first != "\b":
            yield _escaped(" ".join([first, *others])) + "\n\n"
        elif others[0] == "Examples:":
            examples = f"{level}# Examples\n\n```sh\n" + "\n".join(others[1:]) + "\n```\n\n"
        else:
            yield "```text\n" + "\n".join(others) + "\n```\n\n"
    yield f"```text\n{usage.strip()}\n```\n\n{examples}```{{program}} {path}\n```\n\n"
    for group, options in option_groups(command, context).items():
        options = [each for each in options if each.name != "help"]  # the same in all commands
        if not options:
            continue
        yield f"{level}# {group}\n\n{_escaped(GROUPS[group])}\n\n"
        for each in options:
            name, text = each.get_help_record(context) or ("", "")
            yield f"```{{option}} {name}\n{_escaped(text)}\n```\n\n"


def _escaped(text: str) -> str:
    """Return text as Markdown: what is between backticks, options and commands as code."""
    text = _CODE.sub(r"`\g<0>`", text.replace("\xa0", " "))
    pieces = re.split(r"(`[^`]*`)", text)
    pieces[::2] = [re.sub(r"([\\*_<>\[\]$|{}#~])", r"\\\1", piece) for piece in pieces[::2]]
    return "".join(pieces)


# ----------------------------------------------------------------------------- links
class LinkNames(SphinxPostTransform):
    """Link inline code that names a command or a public object; set dashes before descriptions."""

    default_priority = 5  # before references are resolved

    def run(self, **_: Any) -> None:
        """Change the nodes of a page."""
        for text in [*self.document.findall(nodes.Text)]:
            if text == " -- ":  # between a parameter and its description
                text.parent.replace(text, nodes.Text(" \N{EN DASH} "))
        for literal in [*self.document.findall(nodes.literal)]:
            text = literal.astext()
            words = text.split()
            if isinstance(literal.parent, (nodes.reference, nodes.title, addnodes.pending_xref)):
                continue
            if len(words) == 2 and words[0] == "seqtag" and words[1] in COMMANDS:
                page = f"{OVERVIEW}/{words[1]}"
                address = self.app.builder.get_relative_uri(self.env.docname, page)
                link: nodes.Element = nodes.reference(internal=True, refuri=address)
            elif re.fullmatch(r"seqtag(\.\w+)+(\(\))?", text):
                link = addnodes.pending_xref(
                    refdomain="py", reftype="obj", reftarget=text.removesuffix("()")
                )
                link["refdoc"] = self.env.docname
            else:
                continue
            literal.replace_self(link)
            link += literal


# ----------------------------------------------------------------------------- docstrings
def keep_colons(
    _app: Sphinx, what: str, _name: str, thing: Any, _options: Any, lines: list[str]
) -> None:
    """Restore docstrings of properties, in which napoleon takes what is before a colon for a type."""
    if what in ("property", "attribute") and thing.__doc__ and "-----" not in thing.__doc__:
        lines[:] = prepare_docstring(thing.__doc__)


def skip_fields(
    _app: Sphinx, _what: str, _name: str, thing: Any, _skip: bool, _options: Any
) -> bool | None:
    """Leave out fields of named tuples that have no text; the class describes them."""
    return True if (thing.__doc__ or "").startswith("Alias for field number") else None


def class_signature(
    _app: Sphinx, what: str, _name: str, thing: Any, _options: Any, signature: str, _returns: Any
) -> tuple[str, None] | None:
    """Return the signature of a class whose base class is mocked."""
    if what != "class" or signature != "(*args, **kwargs)":
        return None
    found = inspect.signature(thing.__init__, bound_method=True)
    return inspect.stringify_signature(found, show_annotation=False), None


def find_public(
    _app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, content: nodes.Element
) -> nodes.Element | None:
    """Resolve the full name of an object that is documented under its public name."""
    name = node["reftarget"]
    if node.get("refdomain") != "py" or not name.startswith("seqtag."):
        return None
    parts = name.split(".")
    last = parts[-2:] if parts[-2][0].isupper() else parts[-1:]
    domain = env.domains.python_domain
    found = [
        entry
        for known, entry in domain.objects.items()
        if known.split(".")[-len(last) :] == last and entry.objtype in KINDS[len(last)]
    ]
    if len(found) != 1:
        return None
    [place] = found
    return make_refnode(env.app.builder, node["refdoc"], place.docname, place.node_id, content)


def copy_play(app: Sphinx, error: Exception | None) -> None:
    """Write the page to play with, which is no page of Sphinx."""
    if error is None:
        play_page.build(Path(app.outdir, "play"))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register all of these."""
    app.add_html_math_renderer("mathml", (_visit_math, None), (_visit_math, None))
    app.connect("builder-inited", write_command_pages)
    app.connect("env-get-outdated", lambda *_: [OVERVIEW])
    app.connect("source-read", read_page)
    app.connect("autodoc-process-docstring", keep_colons, priority=600)
    app.connect("autodoc-skip-member", skip_fields)
    app.connect("autodoc-process-signature", class_signature)
    app.connect("missing-reference", find_public)
    app.connect("build-finished", copy_play)
    app.add_post_transform(LinkNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
