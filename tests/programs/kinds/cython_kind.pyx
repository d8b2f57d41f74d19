# cython: language_level=3


cdef int product(int number, int by):
    cdef int found = number * by
    return found


def scaled(int number, int by):
    cdef int found = product(number, by)  # @scaled
    return found + 1  # @returns


def twice(function, number):
    once = function(number)  # @twice
    return function(once)  # @again


class Plain:
    def method(self, number):
        found = number + 1  # @method
        return found
