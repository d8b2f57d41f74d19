"""Prints how many instructions of its functions stand for two, and what they compute, as a place stops it elsewhere."""

OF_TWO = {84, 86, 88, 154, 158}  # Python 3.12's


def place():
    return "place"  # @place


def starts():
    one = two = 1
    for _ in range(20):
        three = one + two
        two = three - one
    return two


def runs():
    one = two = 1
    place()
    for _ in range(20):
        three = one + two
        two = three - one
    show("runs", runs, two)


def waits():
    one = two = 1
    while True:
        yield two
        three = one + two
        two = three - one


def show(when, function, result):
    code, cache = function.__code__, 0
    both = zip(code.co_code[::2], code._co_code_adaptive[::2], strict=True)
    print(when, sum(plain != cache and runs in OF_TWO for plain, runs in both), result, flush=True)


waiting = waits()
next(waiting)
runs()
show("starts", starts, starts())
show("waits", waits, next(waiting) + next(waiting))
show("again", starts, starts())
