"""Writes a page of ranks for the browser's test. usage: write_ranks_page.py RANKS|hostile FILE"""

import sys
from pathlib import Path

from hostile_graph import HOSTILE

sys.path.insert(0, str(Path(__file__).parent.parent))

from kit.made_job import a_job
from pyharness.ranks.blame.judging import judge
from pyharness.ranks.shown.page import page

what, file = sys.argv[1:]
job = a_job(4, culprit=1, name=HOSTILE) if what == "hostile" else a_job(int(what), culprit=1)
Path(file).write_text(page(job, judge(job)), encoding="utf-8")
