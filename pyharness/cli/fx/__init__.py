"""``pyharness fx VERB``: what torch.fx and torch.compile make of a program."""

from __future__ import annotations

import click

from pyharness.cli.grammar.lazy_group import LazyGroup

# One module of this folder for each, with a `command`; it is imported when it is used.
VERBS = {
    "show": "each GraphModule that a program makes: node, op, target, module, the user's line",
    "code": "the generated code, with the module and the user's line of each statement beside it",
    "graph": "a graph drawn with characters: which value goes where",
    "diff": "what a pass changed: two graphs, or two versions of one, side by side",
    "draw": "a page to look at in a browser: nodes in boxes of their modules, with code, shapes and search",
    "export": "a package of readable, editable Python of one graph, with its parameters",
    "verify": "whether a pass, or inductor, changes what a model computes, and the first node that differs",
    "bisect": "the first bad pass of a list, the graph shrunk to what it takes, and a script that shows it",
    "determinism": "whether a pass gives the same code whatever the order of sets is",
    "compiled": "what torch.compile made of a program: graphs, graph breaks, guards, recompilations",
}
_EXAMPLES = (
    ("every graph that a program makes", "pyharness fx show train.py -- --epochs 1"),
    ("does a pass keep what the model computes?", "pyharness fx verify net.py:Net passes.py:fuse"),
)


@click.group(cls=LazyGroup, package=__name__, summaries=VERBS, examples=_EXAMPLES)
def command() -> None:
    """Look at, compare, draw and export the graphs that torch.fx and torch.compile make in a program."""
