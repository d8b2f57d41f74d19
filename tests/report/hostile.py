"""A trace whose every name is markup, a script's end, or what the page's template looks for."""

from synthetic import Maker

from pyharness.model.results.trace import Call

NAMES = [
    "</script><img src=x onerror='window.ran = true'>",
    "<!--<script>window.ran = true</script>",
    "@@SCRIPT@@ @@DATA@@ @@",
    "\u2028 \" ' ` ${window.ran = true} \\u003c \\",
    "&lt;b&gt; ]]> \x00 \udcff",
]


def trace():
    maker = Maker()
    for name in NAMES:
        stack = (Call(f"/home/{name}.py", 3, name, name, name),)
        op = maker.add(name, 1000, stack=stack, overload=name)
        maker.clock += 1000
        maker.add(name, 1000, stack=stack, kind="node", forward=op.number, graph_task=0, reentrant=1)
        maker.clock += 1000
    return maker.trace(program="".join(NAMES), threads={1: NAMES[0]})
