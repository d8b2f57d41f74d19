"""How shells complete: by click's scripts, and in bash by ours, as bash breaks ``native:f`` into three words."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, ClassVar

from click.shell_completion import (
    BashComplete,
    add_completion_class,
    get_completion_class,
    shell_complete,
    split_arg_string,
)

from pyharness.cli import COMPLETE

if TYPE_CHECKING:
    import click

SHELLS = ("bash", "zsh", "fish")

# What was typed goes as it is; of the answers, what stands before the last colon is there already. A place that goes on
# (`py:train.py:`, `examples/`) gets no space behind it.
_SOURCE = """
%(complete_func)s() {
    local IFS=$'\\n' response completion kind value typed=${COMP_LINE:0:COMP_POINT}
    response=$(env COMP_WORDS="$typed" %(complete_var)s=bash_complete "$1")
    local whole=${typed##*[[:space:]]} before=
    if [[ $COMP_WORDBREAKS == *:* && $whole == *:* ]]; then
        before=${whole%%"${whole##*:}"}
    fi
    COMPREPLY=()
    for completion in $response; do
        kind=${completion%%%%,*} value=${completion#*,}
        if [[ $kind == file ]]; then
            compopt -o default
        elif [[ $kind == plain ]]; then
            COMPREPLY+=("${value#"$before"}")
        fi
    done
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[:/] ]]; then
        compopt -o nospace
    fi
    return 0
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""


class Bash(BashComplete):
    """click's, with the line as it was typed instead of bash's words."""

    source_template: ClassVar[str] = _SOURCE

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the cursor, and the one at it."""
        typed = os.environ["COMP_WORDS"]
        words = split_arg_string(typed)
        incomplete = "" if not words or typed[-1:].isspace() else words.pop()
        return words[1:], incomplete


add_completion_class(Bash, "bash")


def script(command: click.Command, shell: str) -> str:
    """What ``shell`` reads in order to complete; empty for a shell that is none of ``SHELLS``."""
    completion = get_completion_class(shell)
    return completion(command, {}, "pyharness", COMPLETE).source().strip() if completion else ""


def answer(command: click.Command, asked: str) -> int:
    """Answer what the script of a shell asks; its exit status."""
    return shell_complete(command, {}, "pyharness", COMPLETE, asked)
