"""Completion in bash where words have colons: bash breaks ``native:f`` into three, and replaces the last alone."""

from __future__ import annotations

import os
from typing import ClassVar

from click.shell_completion import BashComplete, add_completion_class, split_arg_string

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


def register() -> None:
    """Let click use it, here and when bash asks."""
    add_completion_class(Bash, "bash")
