"""``seqtag completion``."""

from __future__ import annotations

import os
import re
import shlex

import click
from click.shell_completion import ShellComplete

from seqtag.cli.base import Choice, Command
from seqtag.cli.common import say

FILES = "<files>"
"""The line that asks the shell to complete files, too."""

# The whole line goes to seqtag, since bash takes ud:fr_sequoia for three words.
_BASH = r"""
_seqtag() {
    local line files='' found=()
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == '<files>' ]]; then files=1; else COMPREPLY+=("$line"); fi
    done < <(seqtag completion bash -- "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
    if [[ $files ]]; then
        mapfile -t found < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
        if [[ ${#found[@]} -gt 0 && ${#COMPREPLY[@]} -eq 0 ]]; then
            compopt -o filenames 2>/dev/null
        fi
        COMPREPLY+=("${found[@]}")
    fi
    if [[ ${#COMPREPLY[@]} -eq 1 && $COMPREPLY == *= ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -F _seqtag seqtag
"""

_ZSH = r"""
#compdef seqtag
_seqtag() {
    local line files=''
    local -a names
    for line in "${(@f)$(seqtag completion zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
        if [[ $line == '<files>' ]]; then files=1; elif [[ -n $line ]]; then names+=("$line"); fi
    done
    (( $#names )) && compadd -- "${names[@]}"
    [[ -n $files ]] && _files
    return 0
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _seqtag "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
    compdef _seqtag seqtag
fi
"""

_FISH = r"""
function __seqtag_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in (seqtag completion fish -- $words[2..-1] 2>/dev/null)
        if test "$line" = '<files>'
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete --command seqtag --no-files --arguments '(__seqtag_complete)'
"""

_SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


@click.command("completion", cls=Command)
@click.argument("shell", type=Choice(tuple(_SCRIPTS)))
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="")
@click.pass_context
def command(context: click.Context, shell: str, words: tuple[str, ...]) -> int:
    """Print a script that completes commands, options, files, models and corpora in a shell.

    \b
    In ~/.bashrc:                   eval "$(seqtag completion bash)"
    In ~/.zshrc:                    eval "$(seqtag completion zsh)"
    In ~/.config/fish/config.fish:  seqtag completion fish | source

    \b
    Examples:
      seqtag completion bash
      seqtag completion fish
    """
    if not words:
        say(_SCRIPTS[shell].lstrip("\n"))
        return 0
    group = context.find_root().command
    *before, last = _split(words[0])[1:] or [""] if shell == "bash" else words
    cut = _cut(last) if shell == "bash" else 0
    for candidate in candidates(group, before, last):
        say(f"{candidate if candidate == FILES else candidate[cut:]}\n")
    return 0


def candidates(group: click.Command, before: list[str], last: str) -> list[str]:
    """Return the completions of a word, and `FILES` if it may be a file.

    Parameters
    ----------
    group
        The command line.
    before
        The words before it, without the name of the program.
    last
        The beginning of the word, perhaps empty.
    """
    option, equals, value = last.partition("=")
    glued = option + equals if option.startswith("--") and equals else ""
    if glued:
        before, last = [*before, option], value
    found = ShellComplete(group, {}, "seqtag", "").get_completions(before, last)
    names = [f"{glued}{item.value}" for item in found if item.type == "plain"]
    # A word that click does not know is most often a file.
    files = any(item.type != "plain" for item in found) or not (found or last.startswith("-"))
    return names + [FILES] * files


def _split(line: str) -> list[str]:
    """Split a line up to the cursor; its last word may be empty or lack its closing quote."""
    for ending in ("", '"', "'"):
        try:
            words = shlex.split(line + ending)
        except ValueError:
            continue
        return [*words, ""] if not ending and re.search(r"(?<!\\)\s$", line) else words
    return line.split()


def _cut(word: str) -> int:
    """Return the length of the part of a word that bash treats as separate words."""
    breaks = os.environ.get("COMP_WORDBREAKS", " \t\n\"'@><=;|&(:")
    return max((word.rfind(mark) + 1 for mark in set(breaks) & set(":=@")), default=0)
