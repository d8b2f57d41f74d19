"""Raises in Python and throws in C++, some of it caught, and sends itself signals; ends by an exception or a crash."""

import copy
import signal
import sys

import crossing


class Wrong(ValueError):
    pass


def refuse(kind):
    raise kind("on purpose")  # @raise


def caught(kind):
    try:
        refuse(kind)
    except kind:
        return True


class Uncopyable:
    def __deepcopy__(self, memo):
        raise Wrong("no copy")  # @no_copy


def into_a_library():
    try:
        copy.deepcopy([Uncopyable()])
    except Wrong:
        return True


def through_python():
    try:
        crossing.fail("thrown")
    except RuntimeError:
        return True


signal.signal(signal.SIGUSR1, signal.SIG_IGN)
crossing.held(0)  # @begin
caught(KeyError)
caught(Wrong)
into_a_library()
crossing.attempt("attempted")
through_python()
crossing.send(signal.SIGUSR1)
print("done", flush=True)
if "crash" in sys.argv:
    crossing.crash()  # @crash
refuse(Wrong)
