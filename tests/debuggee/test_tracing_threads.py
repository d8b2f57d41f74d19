"""pydevd's tracing of other threads begins none of its own: a Python that ends at that moment crashes."""

import json
import subprocess
import sys

from kit.needs import TRACE_FUNCTIONS

TRACES = """
import json, sys, threading
import debugpy.server
import pydevd_tracing
from pyharness.debuggee.pydevd import tuning

tuning._spare_threads()
stays, ran = threading.Event(), []
other = threading.Thread(target=stays.wait, daemon=True)
other.start()
start = pydevd_tracing.pydev_monkey.get_original_start_new_thread(pydevd_tracing.thread)
start(lambda: ran.append(threading.get_ident()), ())
traced = pydevd_tracing.set_trace_to_threads(lambda *_: None, [other.ident])
print(json.dumps([ran == [threading.get_ident()], sys.gettrace() is None, traced]))
"""


@TRACE_FUNCTIONS
def test_no_thread_is_begun():
    done = subprocess.run([sys.executable, "-c", TRACES], capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(done.stdout.splitlines()[-1]) == [True, True, 0]
