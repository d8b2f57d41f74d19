"""Crosses into a plain C extension and back; runs under any Python that the extension is built for."""

import plain


def called():
    return 0  # @called


def last():
    return plain.total(2)


def passes_on():
    last()  # @passes_on


def work(count):
    first = plain.total(count)  # @calls
    second = plain.without_gil() + first  # @after
    try:  # @try
        plain.fails()  # @fails
    except ValueError as error:  # @caught
        second += len(str(error))  # @handled
    second += plain.calls(called)  # @calls_back
    passes_on()  # @passed_on
    return second  # @end


result = work(5)  # @main
print("result", result)  # @printed
