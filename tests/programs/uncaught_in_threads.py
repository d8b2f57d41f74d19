"""Raises in threads of each kind, and then in the main one; what is caught in a thread is nobody's."""

import _thread
import sys
import threading

ended = threading.Event()
threading.excepthook = lambda args: print(f"the program's own: {args.exc_type.__name__}", flush=True)
sys.unraisablehook = lambda _args: ended.set()


def fails(way):
    raise ValueError(way)  # @fails


def catches():
    try:
        fails("caught")
    except ValueError:
        pass


class Method(threading.Thread):
    def run(self):
        fails("a method")


for thread in threading.Thread(target=fails, args=["a target"]), Method(), threading.Thread(target=catches):
    thread.start()
    thread.join()
_thread.start_new_thread(fails, ("a plain thread",))
ended.wait()
print("end", flush=True)
raise LookupError("at last")  # @last
