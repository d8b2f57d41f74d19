"""Writes a page for the browser's test. usage: write_page.py EVENTS|hostile FILE"""

import sys
from pathlib import Path

import hostile
from synthetic import training

from pyharness.report.html import page

what, file = sys.argv[1:]
trace = hostile.trace() if what == "hostile" else training(int(what), shapes=True)
Path(file).write_text(page(trace), encoding="utf-8")
