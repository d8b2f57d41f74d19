"""Options that several verbs have, in one wording."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from pyharness.cli.grammar import completers
from pyharness.model.evaluation import EVAL_TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Callable

    Decorator = Callable[[Any], Any]


class Seconds(click.FloatRange):
    """Seconds within bounds; what is no number is within none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Convert as click does, which takes ``nan``."""
        seconds: float = super().convert(value, param, ctx)
        if math.isnan(seconds):
            self.fail(f"{value} is no number of seconds.", param, ctx)
        return seconds


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
program_json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object; the program's output goes to stderr."
)
full_option = click.option("--full", is_flag=True, help="Show the stacks' plumbing frames, too.")
eval_timeout_option = click.option(
    "--eval-timeout",
    type=float,
    default=EVAL_TIMEOUT,
    show_default=True,
    metavar="SECONDS",
    help="How long an expression may take.",
)


def script_folder_option(where: str) -> Decorator:
    """``-o FOLDER``, for a verb that writes a script."""
    return click.option(
        "-o",
        "--output",
        "folder",
        type=click.Path(file_okay=False),
        metavar="FOLDER",
        help=f"{where}; a private folder if not given.",
    )


ranks_option = click.option(
    "--ranks",
    metavar="RANKS",
    help="Debug these ranks (3, or 0,2-5, or all) of the job that what follows -- starts; the others run.",
)
debug_kernels_option = click.option(
    "--debug-kernels", is_flag=True, help="Have torch.compile build its C++ kernels unoptimized, in a cache of our own."
)
overwritten_option = click.option(
    "--overwritten",
    is_flag=True,
    help="Watch tensors that autograd saves: tell who writes into one, in C++ too; a debugger stops there.",
)
raw_option = click.option("--raw", is_flag=True, help="Keep what differs from run to run: addresses and thread ids.")
python_option = click.option(
    "--python",
    default="",
    metavar="PATH",
    help="The program's interpreter, if not that of its environment.",
    shell_complete=completers.files,
)
_PROGRAM: tuple[Decorator, ...] = (
    click.argument(
        "words", metavar="SCRIPT [-- ARGS]...", nargs=-1, type=click.UNPROCESSED, shell_complete=completers.files
    ),
    click.option("-m", "module", metavar="MODULE", help="Run a module instead of a script."),
    python_option,
    click.option(
        "--cwd",
        type=click.Path(exists=True, file_okay=False),
        metavar="FOLDER",
        help="The program's working folder, if not this one.",
    ),
)


def program_options(function: Any) -> Any:
    """SCRIPT or a module, its arguments, its interpreter and its folder: what ``script.command_of`` takes."""
    for decorate in reversed(_PROGRAM):
        function = decorate(function)
    return function
