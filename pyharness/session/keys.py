"""Every key of a session file, its type and what it means: the tables of docs/sessions.md are made from these."""

from __future__ import annotations

from pyharness.model.frozen import frozen


@frozen
class Key:
    """One key of a table."""

    name: str
    kind: str
    """The type of the value, in TOML's words."""
    says: str
    """What it means, in Markdown."""


_FLAG = "true or false"
_TEXTS = "string or list"
_PATTERN = "pattern"

TOP = (
    Key("program", "table", "what to run"),
    Key("step", "list of tables", "the steps, in order"),
    Key("log", "list of tables", "log points: what is printed whenever a place is reached"),
    Key("full", _FLAG, "show the stacks' plumbing frames too"),
    Key("eval_timeout", "number", "seconds that an expression may take, 5 if not given"),
)
PROGRAM = (
    Key("script", "string", "the script to run: this or `module`"),
    Key("module", "string", "the module to run, as `python -m` does"),
    Key("args", _TEXTS, "its command line"),
    Key("python", "string", "its interpreter, if not that of its environment"),
    Key("cwd", "string", "its working folder; that of the session file when not given"),
    Key("env", "table of strings", "added to its environment"),
    Key("include", _TEXTS, "path patterns of library code that steps shall stop in after all"),
    Key("ranks", "string", "ranks of a distributed job in which the steps are taken, at once: `3`, `0,2-5` or `all`"),
    Key("job", "list", 'what starts the script in each rank, as `["torchrun", "--nproc-per-node", "4"]`; with `ranks`'),
    Key("debug_kernels", _FLAG, "have torch.compile build its C++ kernels unoptimized, to be debugged"),
    Key("overwritten", _FLAG, "stop where something writes into a tensor that autograd saved"),
    Key(
        "exit_code",
        "whole number",
        "what it is expected to end with; negative for a signal: `-11` is a segmentation fault. With `ranks`, the job",
    ),
    Key("kill", _FLAG, "end the program after the last step instead of letting it run on"),
)
STEP = (
    Key("at", "place", "run on to this place"),
    Key("element", "string", "in a kernel of torch.compile's, run on to an element of a node, as `gelu[2, 7]`"),
    Key("into", _FLAG, "step into the first function of yours that the line runs, Python or native"),
    Key("into_native", _FLAG, "the same, native functions only"),
    Key("over", _FLAG, "step to the next line"),
    Key("out", _FLAG, "step to whoever called: another native frame of yours, or the Python line"),
    Key("continue", _FLAG, "run on to the next stop, or to the end"),
    Key("print", _TEXTS, "expressions to evaluate where the step ends"),
    Key("stack", _FLAG, "show the stack there"),
    Key("expect", "table", "what the stop must be"),
)
LOG = (
    Key("at", "place", "where"),
    Key("message", "string", "what to print; each `{EXPRESSION}`, in the place's language, is evaluated there"),
)
FRAME = (
    Key("function", "string", "the name; namespaces, classes, template arguments and parameters may be left out"),
    Key("file", "string", "compared from its end, folder by folder: `norm.cpp`, `ops/norm.cpp`, `Net_*.py`"),
    Key("line", "whole number", "the number"),
    Key("source", _PATTERN, "in the text of that line: better than a number where lines move"),
    Key("language", "string", "`python` or `native`"),
    Key("fx.node", "string", "the torch.fx node of a generated line"),
    Key("fx.module", "string", "the module that made the node"),
    Key("fx.origin", "string", "`FILE:LINE` of yours that it comes from; the folder may be left out"),
    Key("autograd", _PATTERN, "in the name of the autograd node that the frame runs"),
)
"""What can be expected of the stop, and of any frame in ``stack_contains``."""
EXPECT = (
    Key(
        "reason",
        "string",
        "`breakpoint`, `step`, `signal`, `exception`, `entry`, or `ended` where the program is to end instead",
    ),
    Key("note", _PATTERN, "in what a step says of itself: why an *into* found nothing, which signal"),
    Key("printed", "table of patterns", "expression → pattern in its value; the expressions need not be in `print`"),
    Key(
        "stack_contains",
        "list",
        "functions, or tables of the keys of a frame, in this order from the innermost out; others may lie between",
    ),
)
"""What can be expected of the stop only."""
