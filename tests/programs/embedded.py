"""What embedding.cpp runs."""

import time

import engine


def tick(value, step):
    time.sleep(0.01)
    scaled = engine.scale(value, 0.5)  # @call
    return scaled + step  # @return
