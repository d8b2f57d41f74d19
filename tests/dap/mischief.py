"""Messages that a broken client could send, the same ones on every run; none starts a process or attaches to one."""

import json
import random

from kit import dap_protocol as protocol

NOT_SENT = {"disconnect", "runInTerminal", "startDebugging"}
"""The first ends the session, the others are the adapter's to ask."""
HARMFUL = {"module", "processId", "processName", "handle", "coreFile"}
"""Arguments that could do what they say."""
TEXTS = ("", "x", "\0", "\ud800", "/", "/nowhere/x.py", "ü" * 50, "a" * 5000, "%s{0}", "() -> [", "fx:", "native:")
NUMBERS = (-1, 0, 1, 7, 2**31, -(2**63), 10**30, 1.5)
VALUES = (*TEXTS, *NUMBERS, None, True, False, [], [None], [{}], {}, {"path": 5}, [[[]]])
JUNK = (b"\r\n\r\n", b"Content-Length: ", b"\0\xff\xfe", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"{", b'"', b"}" * 99)


def shapes():
    """The requests of the protocol, each with the names of its arguments."""
    found = {name: set() for name in ("", "Launch", "__class__", "evaluate ", "x" * 3000)} | dict(protocol.requests())
    return {name: sorted(parts - HARMFUL) for name, parts in found.items() if name not in NOT_SENT}


def requests(count, seed, first=1, spared=()):
    """Requests, most of them out of place or wrong, but none of ``spared``; ``seq`` counts from ``first``."""
    chance = random.Random(seed)  # noqa: S311  (the same on every run is the point)
    known = shapes()
    commands = sorted(known.keys() - spared)
    for seq in range(first, first + count):
        command = chance.choice(commands)
        names = chance.sample(known[command], min(len(known[command]), chance.randint(0, 4)))
        arguments = {name: plausible(name, chance) for name in names}
        message = {"seq": seq, "type": "request", "command": command, "arguments": arguments}
        yield bent(message, chance) if chance.random() < 0.2 else message


def plausible(name, chance):
    """A value for an argument; sometimes of its type."""
    if chance.random() < 0.5:
        if name in {"breakpoints", "filterOptions"}:
            return [{chance.choice(("line", "name", "filterId")): chance.choice(VALUES)} for _ in range(2)]
        if name == "source":
            return {"path": chance.choice(TEXTS), "sourceReference": chance.choice(VALUES)}
        if name.endswith(("Id", "Reference", "line", "count", "offset", "levels")):
            return chance.randint(-2, 30)
    return chance.choice(VALUES)


def bent(message, chance):
    """A request with one thing wrong that leaves it answerable: its number and that it is a request."""
    wrong = chance.choice(("command", "arguments", "type"))
    if wrong == "type":
        message["type"] = chance.choice(("question", "", None, 5, ["request"]))
    elif chance.random() < 0.5:
        message[wrong] = chance.choice(VALUES)
    else:
        del message[wrong]
    return message


def framed(message):
    """A message as it goes over the wire."""
    data = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(data), data)


def mangled(count, seed):
    """Frames, every third with its bytes cut, or replaced."""
    chance = random.Random(seed)  # noqa: S311
    for message in requests(count, seed):
        data = framed(message)
        for _ in range(chance.choice((0, 0, 1))):
            at, length = chance.randint(0, len(data)), chance.choice((0, 1, 5, 40))
            data = data[:at] + chance.choice(JUNK) + data[at + length :]
        yield data
