"""Two tasks that take turns, coroutines that raise and are cancelled, and generators: steps follow their own."""

import asyncio


async def inner(number):
    await asyncio.sleep(0.001)  # @inner_waits
    return number + 1  # @inner_returns


async def job(name, number):
    await asyncio.sleep(0)  # @job_begins
    got = await inner(number)  # @job_waits
    name += str(got)  # @job_goes_on
    return name  # @job_returns


async def fails():
    await asyncio.sleep(0)
    int("word")  # @fails
    return 1


async def caught():
    try:
        await fails()  # @asks
    except ValueError:  # @catches
        return 2


async def main():
    one = asyncio.ensure_future(job("c", 1))
    two = asyncio.ensure_future(job("d", 10))
    named = await one  # @main_waits
    named += await two  # @main_goes_on
    both = await asyncio.gather(job("e", 1), job("f", 10))  # @main_gathers
    named += str(both) + str(await caught())  # @main_ends
    return named


def numbers():
    number = 1
    yield number  # @yields
    number = 2  # @goes_on
    yield number
    number = 3


def delegates():
    yield from numbers()  # @delegates
    yield 4


def total():
    found = 0
    for number in numbers():  # @consumes
        found += number
    for number in delegates():
        found += number
    return found


def abandons():
    for number in numbers():
        break
    return number  # @abandoned


print(total(), abandons())
print(asyncio.run(main()))
