"""Starts and joins threads that do nothing, one after the other: FILE gets the seconds that this takes."""

import json
import sys
import threading
import time
from pathlib import Path

THREADS = 1000

started = time.perf_counter()
for _ in range(THREADS):
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
Path(sys.argv[1]).write_text(json.dumps({"thread starts": time.perf_counter() - started}), encoding="utf-8")
