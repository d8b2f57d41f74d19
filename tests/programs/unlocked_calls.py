"""Crashes in the function of the module ``unlocked`` that its argument names."""

import sys

import unlocked

getattr(unlocked, sys.argv[1])(object)
