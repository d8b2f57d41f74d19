"""Stays for ever at the place that its argument names: in Python, in native code, asleep, or waiting for another."""

import os
import sys
import threading
import time
import traceback

import crossing

reader, _writer = os.pipe()


def loop():
    number = 1
    while number:
        number += 1  # @loop


def sleep():
    seconds = 100_000
    time.sleep(seconds)  # @sleep


def lock():
    held = threading.Lock()
    held.acquire()
    held.acquire()  # @lock


def native_loop():
    count = 2**31 - 1
    while count:
        crossing.repeat(count)  # @native_loop


def released():
    descriptor = reader
    crossing.wait_for(descriptor)  # @released


def holding():
    descriptor = reader
    crossing.wait_holding(descriptor)  # @holding


def loop_when_waited_for():
    main = threading.main_thread().ident
    joins = threading.Thread.join.__code__
    while joins not in [frame.f_code for frame, _line in traceback.walk_stack(sys._current_frames()[main])]:
        pass
    loop()


def join():
    worker = threading.Thread(target=loop_when_waited_for, daemon=True)
    worker.start()
    worker.join()  # @join


print("there", flush=True)
globals()[sys.argv[1]]()
