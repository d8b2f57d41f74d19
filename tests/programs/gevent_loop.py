"""Greenlets that run until the input ends: gevent has replaced locks, sockets, sleeps and threads."""

from gevent import monkey

monkey.patch_all()

import select
import sys
import threading

import crossing
import gevent


def ended():
    return bool(select.select([sys.stdin], [], [], 0.002)[0])


def work(number):
    while not ended():
        kept = number  # @kept
        doubled(kept)


def doubled(number):
    return crossing.call(back, number)  # @calls


def back(number):
    return number * 2  # @back


print("begin", flush=True)
jobs = [gevent.spawn(work, number) for number in range(1, 3)]
thread = threading.Thread(target=work, args=(9,))
thread.start()
gevent.joinall(jobs)
thread.join()
print("end", threading.enumerate() == [threading.main_thread()], sys.gettrace(), flush=True)
