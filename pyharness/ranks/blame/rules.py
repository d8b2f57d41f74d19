"""What a thread does, by the functions that the innermost line of the user's has called."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

COLLECTIVE_FILE = r"/torch/distributed/(distributed_c10d|nn/functional|_functional_collectives)\.py"


@frozen
class Rule:
    """A kind of activity, and the functions that it is known by."""

    kind: str
    text: str
    """A predicate, as ``waits for a mutex``."""
    native: str = r"(?!)"
    """A pattern of names of native functions."""
    python: str = r"(?!)"
    """A pattern of ``FILE:FUNCTION`` of Python; up to 3.10 a method's name is without its class."""

    def fits(self, natives: Iterable[str], pythons: Iterable[str]) -> bool:
        """Whether one of the functions is such a one."""
        native, python = re.compile(self.native), re.compile(self.python)
        return any(map(native.search, natives)) or any(map(python.search, pythons))


COMPILES = Rule(
    "compiles",
    "compiles with torch.compile",
    python=r"/torch/(_dynamo/(convert_frame|symbolic_convert|output_graph)"
    r"|_inductor/(compile_fx|codecache|graph|scheduler|async_compile|cpp_builder))\.py:",
)
INPUT = Rule("input", "waits for input", r"^(builtin_input\w*|PyOS_Readline|PyFile_GetLine|my_fgets)$")
FILE = Rule(
    "file",
    "reads or writes a file",
    r"^(__)?(GI_)?(p?read\w*|p?write\w*|f(data)?sync|openat?(64)?|fcntl\w*|flock)$",
)
GIL = Rule("gil", "waits for the GIL", r"^(take_gil|PyEval_RestoreThread|PyEval_AcquireThread)$")
WAITS_FOR_A_TIME = re.compile(r"^(___?)?pthread_cond_(timed|clock)wait\w*$")
"""What the interpreter itself calls for the GIL only: its locks are semaphores."""
RULES = (
    Rule("loader", "waits for its data loader", python=r"/torch/utils/data/dataloader\.py:.*_(try_)?get_data$"),
    COMPILES,
    Rule("store", "waits for the rendezvous store", r"^c10d::(detail::)?\w*(Store|TCPClient|Socket)"),
    Rule("collective", "waits in a collective", r"^(c10d|gloo)::", rf"{COLLECTIVE_FILE}:"),
    Rule(
        "prints an exception",
        "prints an exception",
        r"^(PyErr_Print|_?PyErr_Display|PyTraceBack_Print|print_exception)",
        r"/traceback\.py:",
    ),
    Rule(
        "ends",
        "ends, and waits for its threads",
        r"^wait_for_thread_shutdown$",
        r"/threading\.py:_shutdown$",
    ),
    Rule("ends", "is ending", r"^(Py_FinalizeEx|Py_Exit|__run_exit_handlers|exit|_?Py_Finalize\w*)$"),
    GIL,
    INPUT,
    Rule("child", "waits for a child process", r"^(__)?(wait4|waitpid|waitid)$"),
    Rule(
        "mutex",
        "waits for a mutex",
        r"^(__GI_)?(___?)?(lll_lock_wait\w*|pthread_mutex_\w*lock\w*)$|^std::\w*mutex::lock|rwlock",
    ),
    Rule(
        "join",
        "waits for a native thread to end",
        r"^(__)?(pthread_join|pthread_timedjoin\w*|pthread_clockjoin\w*)$|^std::thread::join",
    ),
    Rule("join", "waits for a thread to end", python=r"/threading\.py:(.*\.)?(join|_wait_for_tstate_lock)$"),
    Rule("queue", "waits for a queue", python=r"/(multiprocessing/queues|queue)\.py:(.*\.)?(get|put)$"),
    Rule(
        "event",
        "waits for an event",
        python=r"/threading\.py:((Event|Condition|Semaphore|Barrier)\w*\.\w+|wait|acquire)$",
    ),
    Rule("lock", "waits for a Python lock", r"^(PyThread_acquire_lock\w*|_?PyMutex_Lock\w*|_PySemaphore_Wait)$"),
    Rule("sleep", "sleeps", r"^(__)?(clock_nanosleep|nanosleep|usleep|sleep|time_sleep|pysleep)\w*$"),
    Rule(
        "condition",
        "waits for a condition variable",
        r"^(___?)?pthread_cond_\w*wait\w*$|^std::condition_variable\w*::wait",
    ),
    Rule("semaphore", "waits for a semaphore", r"^(__new_)?sem_\w*wait\w*$|^__new_sem_wait"),
    Rule(
        "network",
        "waits for the network or a pipe",
        r"^(__)?(GI_)?(recv\w*|accept4?|connect|p?poll|ppoll|epoll_p?wait|p?select)$",
    ),
    FILE,
)
"""The first rule that fits holds."""
