"""Objects that keep their attributes in every way that CPython has; prints where they are, and waits."""

import json
import os
import sys


class Plain:
    kind = "plain"

    def __init__(self):
        self.first = 1
        self.second = "two"


class Touched(Plain):
    """Its ``__dict__`` was asked for, and so made."""


class Grown(Plain):
    """More attributes than its class had expected."""


class Slotted:
    __slots__ = ("width", "unset")

    def __init__(self):
        self.width = 3


class Both(Slotted):
    def __init__(self):
        super().__init__()
        self.extra = [1]


class Listed(list):
    pass


class Counted(int):
    pass


class Failure(ValueError):
    pass


def function():
    return 1


def make():
    touched, grown, deleted, listed, failure = Touched(), Grown(), Plain(), Listed([1]), Failure("x")
    touched.__dict__["third"] = 3
    for index in range(40):
        setattr(grown, f"more{index}", index)
    del deleted.first
    listed.note = "n"
    failure.code = 7
    function.mark = "here"
    counted = Counted(5)
    counted.unit = "m"
    return [Plain(), touched, grown, Slotted(), Both(), deleted, listed, failure, function, json, counted]


def main():
    kept = make()
    names = "plain touched grown slotted both deleted listed failure function module counted".split()
    found = {
        name: {"at": id(one), "names": list(getattr(one, "__dict__", ()))}
        for name, one in zip(names, kept)
        if name != "module"
    }
    found["module"] = {"at": id(json), "names": list(vars(json))}
    # plain was looked at above, and so has a dict: this one has not
    untouched = Plain()
    found["untouched"] = {"at": id(untouched), "names": ["first", "second"]}
    print(json.dumps({"pid": os.getpid(), "objects": found}), flush=True)
    sys.stdin.readline()


main()
