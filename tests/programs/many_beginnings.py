"""Comes to a line in each way in which a frame can begin or go on, and counts how often.

The argument says how many rounds; a round that is not the first runs code that the interpreter has warmed up.
"""

import asyncio
import contextlib
import ctypes
import functools
import sys
import threading
from collections import Counter

count = Counter()
ROUNDS = int(sys.argv[1])


def plain():
    count["plain"] += 1  # @plain


def closure(number):
    def inner():
        count["closure"] += number  # @closure

    return inner


def keyword(*, given=1):
    count["keyword"] += given  # @keyword


class Holder:
    def method(self):
        count["method"] += 1  # @method

    @property
    def attribute(self):
        count["property"] += 1  # @property

    def __del__(self):
        count["deleted"] += 1  # @deleted

    def __lt__(self, other):
        count["compared"] += 1  # @compared
        return True


def raises():
    count["raises"] += 1  # @raises
    raise LookupError


def recursion(levels):
    if levels:
        return recursion(levels - 1)
    count["recursion"] += 1  # @recursion
    return None


def numbers():
    for _ in range(2):
        try:
            yield
        except LookupError:
            count["thrown"] += 1  # @thrown


@contextlib.contextmanager
def within():
    try:
        yield
    finally:
        count["finally"] += 1  # @finally


def delegating():
    yield from stops_at_a_throw()
    count["delegated"] += 1  # @delegated
    yield


def stops_at_a_throw():
    with contextlib.suppress(LookupError):
        yield


async def swallows():
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.sleep(10)


async def cancelled():
    await swallows()
    count["cancelled"] += 1  # @cancelled


async def each_number():
    for _ in range(2):
        count["asynchronous"] += 1  # @asynchronous
        yield


async def awaits():
    task = asyncio.create_task(cancelled())
    await asyncio.sleep(0)
    task.cancel()
    await task
    async for _ in each_number():
        pass


@functools.lru_cache(maxsize=1)
def cached(number):
    count["cached"] += 1  # @cached
    return number


@ctypes.CFUNCTYPE(ctypes.c_int)
def called_from_c():
    count["called_from_c"] += 1  # @called_from_c
    return 0


def in_thread():
    count["in_thread"] += 1  # @in_thread


def profiled():
    count["profiled"] += 1  # @profiled


def handler(error):
    try:
        raise error
    except ValueError:
        count["handled"] += 1  # @handled


def begun():
    yield
    count["begun"] += 1  # @begun


def one_round(waiting):
    plain()
    closure(1)()
    keyword()
    holder = Holder()
    holder.method()
    _ = holder.attribute
    sorted([holder, Holder()])
    del holder, _
    with contextlib.suppress(LookupError):
        raises()
    recursion(30)
    each = numbers()
    next(each)
    each.throw(LookupError)
    with contextlib.suppress(LookupError), within():
        raise LookupError
    outer = delegating()
    next(outer)
    outer.throw(LookupError)
    asyncio.run(awaits())
    cached(len(count) + sum(count.values()))
    called_from_c()
    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    handler(ValueError())
    sys.setprofile(lambda *_: None)
    profiled()
    sys.setprofile(None)

    class Made:
        count["body"] += 1  # @body

    next(waiting, None)
    namespace = {"count": count}
    exec(compile("def made():\n    count['made'] += 1\nmade()\n", "made.py", "exec"), namespace)


generators = [begun() for _ in range(ROUNDS)]
for generator in generators:
    next(generator)
for number in range(ROUNDS):
    if number == ROUNDS // 2:
        before = dict(count)  # @half
    one_round(generators[number])
since = {name: count[name] - before.get(name, 0) for name in count}
print(*(f"{name}={since[name]}" for name in sorted(since)), flush=True)  # @end
