"""Lines of MI made wrong, the same ones on every run."""

import random

STOPPED = (
    '*stopped,reason="breakpoint-hit",disp="keep",bkptno="1",frame={addr="0x00007f6b1c",func="rms_norm_cpu",'
    'args=[{name="x",value="..."},{name="eps",value="1.0e-05"}],file="rms_norm.cpp",line="41"},'
    'thread-id="1",stopped-threads=["1"],core="0"'
)
LINES = (
    STOPPED,
    '*stopped,reason="signal-received",signal-name="SIGSEGV",signal-meaning="Segmentation fault",thread-id="7"',
    '*running,thread-id="all"',
    '=library-loaded,id="/l.so",target-name="/l.so",symbols-loaded="0",thread-group="i1",ranges=[{from="0x1",to="0x2"}]',
    '=breakpoint-modified,bkpt={number="1",type="breakpoint",enabled="y",addr="<MULTIPLE>"},{number="1.1"}',
    '9000^done,bkpt={number="1",original-location="f"},{number="1.1",enabled="y"}',
    '9001^error,msg="No symbol \\"q\\" in current context.",code="undefined-command"',
    '9002^done,stack=[frame={level="0",func="f"},frame={level="1",func="g"}]',
    "9003^running",
    '~"h\\303\\251\\n"',
    '&"warning: \\t\\\\x\\n"',
    "(gdb) ",
    "loss 0.3",
)
SPLICES = (
    '"',
    "{",
    "}",
    "[",
    "]",
    "\\",
    ",",
    "=",
    "^",
    "*",
    "\\777",
    "\\303",
    "é",
    "\0",
    "\udcff",
    "9" * 30,
    "[" * 300,
)


def garbled(count, seed=1):
    """``count`` lines, most of them wrong; none answers a token below 9000."""
    chance = random.Random(seed)  # noqa: S311  (the same on every run is the point)
    for _ in range(count):
        line = chance.choice(LINES)
        for _ in range(chance.randint(0, 4)):
            at, length = chance.randint(0, len(line)), chance.choice((0, 0, 1, 3, 40))
            line = line[:at] + chance.choice(SPLICES) + line[at + length :]
        yield line
