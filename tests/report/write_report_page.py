"""Writes a page of a report for the browser's test. usage: write_report_page.py crash|hostile FILE"""

import sys
from pathlib import Path

from hostile_graph import HOSTILE
from made_report import a_report

from pyharness.aftermath.page import page

what, file = sys.argv[1:]
Path(file).write_text(page(a_report(HOSTILE) if what == "hostile" else a_report()), encoding="utf-8")
