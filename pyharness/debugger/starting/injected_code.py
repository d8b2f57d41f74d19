"""The Python that runs on a thread of its own in a program that was not started by us, in any Python.

It has a namespace of its own; nothing may come out of it but the answer. gdb replaces ``MAIN_THREAD`` by the ``ident``
of the main thread, and ``SOCKETS`` by the pairs of descriptors that it made.
"""

from __future__ import annotations

OLDEST = (3, 9)
NO_ROOM = "no folder takes pyharness's modules"
# What comes here beside a thread that computes waits for its turn at each file that it imports (short_turns.py).
# Up to Python 3.12 the thread that first imports threading passes for the main one: gdb says who that is.
_BEGIN = """
class Turns:
    def __init__(self):
        import sys
        self.usual = sys.getswitchinterval()
        sys.setswitchinterval(min(0.0001, self.usual))
        self.ours = sys.getswitchinterval()
    def give_back(self):
        import sys
        if self.ours is not None and sys.getswitchinterval() == self.ours:
            sys.setswitchinterval(self.usual)
        self.ours = None
def check_version():
    import sys
    if sys.version_info[:2] < {oldest!r}:
        raise RuntimeError("it runs Python %d.%d; needed is %d.%d or newer" % (sys.version_info[:2] + {oldest!r}))
    if sys.implementation.name != "cpython":
        raise RuntimeError("it runs %s; needed is CPython" % sys.implementation.name)
    if "t" in getattr(sys, "abiflags", ""):  # our modules for any CPython would crash it
        raise RuntimeError("it runs a free-threaded build; needed is CPython with the GIL")
def told(error):
    text = str(error)
    return text if type(error) is RuntimeError else "%s: %s" % (type(error).__name__, text)
def refusal(error):  # by hand: it may be json that cannot be imported
    for character in (*map(chr, range(32)), chr(34), chr(92)):
        error = error.replace(character, "'" if character == chr(34) else " ")
    return b'{{"error": "%s"}}' % error.encode("utf-8", "replace")
def name_main_thread(ident):
    import sys
    if "threading" in sys.modules or sys.version_info >= (3, 13):
        return
    import os, threading
    main = threading.main_thread()
    with threading._active_limbo_lock:
        threading._active.pop(main._ident, None)
        main._ident, main._native_id = ident, os.getpid()
        threading._active[ident] = main
    lock = main._tstate_lock
    main._tstate_lock = threading.Lock()
    main._tstate_lock.acquire()
    getattr(threading, "_shutdown_locks", set()).discard(lock)
def apart_from(file, text):
    apart = dict(__name__="_pyharness_apart", __file__=file)
    exec(compile(text, file, "exec"), apart)
    return apart
"""
BY_HANDLE = (
    _BEGIN
    + """
def begin():
    check_version()
    turns = Turns()
    try:
        begin_in(turns)
    finally:
        turns.give_back()
def begin_in(turns):
    with open({apart!r}, "rb") as file:
        apart = apart_from({apart!r}, file.read())
    with apart["FromInstalled"]():
        apart["make_importable"]({packages!r})
        apart["have_ours"]({packages!r}["pyharness"], {version!r})
        name_main_thread(MAIN_THREAD)
        answer(lambda: start(turns))
def start(turns):
    from pyharness.debuggee.entries import late
    try:
        return late.start({home!r})
    finally:
        turns.give_back()  # before the debugger comes
def answer(ask):
    sockets = socket_module()
    door = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
    try:
        door.connect("\\0" + {door!r})
    except OSError:
        return  # whoever asked is not there any more
    try:
        import json
        answer = json.dumps(ask()).encode()
    except BaseException as error:
        answer = refusal(told(error))
    try:
        door.sendall(answer)
    finally:
        door.close()
def socket_module():
    try:
        import _socket
    except ImportError:  # sys.path or sys.meta_path is empty: that is to be told
        import os
        from _frozen_importlib import BuiltinImporter, module_from_spec
        from _frozen_importlib_external import PathFinder
        extensions = os.path.join(os.path.dirname(os.__file__), "lib-dynload")
        spec = BuiltinImporter.find_spec("_socket") or PathFinder.find_spec("_socket", [extensions])
        _socket = module_from_spec(spec)
        spec.loader.exec_module(_socket)
    return _socket
def refuse(problem):
    def ask():
        raise problem
    answer(ask)
try:
    begin()
except BaseException as problem:
    try:
        refuse(problem)
    except BaseException:
        pass
"""
)
"""Listens under a handle, and tells it at the socket ``door``. Both see the same files."""
HANDED_OVER = (
    _BEGIN
    + """
def begin(pairs, sockets):
    check_version()
    turns = Turns()
    try:
        begin_in(turns, pairs, sockets)
    finally:
        turns.give_back()
def begin_in(turns, pairs, sockets):
    import os, sys
    channel = sockets[0]
    channel.settimeout({seconds!r})
    apart = apart_from({apart!r}, {apart_text!r})
    with apart["FromInstalled"]():
        import json
        handed = sys.modules.get("pyharness.debuggee.link.handed")
        folder = handed.Brought.folder if handed else ""
        from importlib.machinery import EXTENSION_SUFFIXES
        say(channel, json.dumps(dict(has=folder, suffix=EXTENSION_SUFFIXES[0], version=sys.version_info[:2])))
        told = json.loads(line(channel))
        for ours, _ in pairs:
            os.close(ours)  # the debugger has them
        pairs.clear()
        brought = ""
        if told["size"]:
            folder = brought = unpacked(channel, told["size"])
        packages = dict.fromkeys(("pyharness", "debugpy"), folder) if folder else told["packages"]
        apart["make_importable"](packages)
        apart["have_ours"](packages["pyharness"], {version!r})
        name_main_thread(MAIN_THREAD)
        from pyharness.debuggee.link import handed
        if brought:
            handed.Brought.keep(brought)
        say(channel, json.dumps(dict(packages=packages, pid=os.getpid())))
        for each in sockets:
            each.settimeout(None)
        turns.give_back()  # before the debugger is met
        handed.receive(*(each.detach() for each in sockets))
def unpacked(channel, size):
    import io, os, shutil, tempfile, zipfile
    received = bytearray()
    while len(received) < size:
        received += channel.recv(min(1 << 20, size - len(received))) or lost()
    problem = None
    def noexec(folder):  # pydevd has a library to load
        try:
            return os.statvfs(folder).f_flag & os.ST_NOEXEC
        except OSError:
            return 1
    for where in sorted((*tempfile._candidate_tempdir_list(), "/dev/shm"), key=noexec):
        folder = None
        try:
            folder = tempfile.mkdtemp(prefix="pyharness-", dir=where)
            zipfile.ZipFile(io.BytesIO(received)).extractall(folder)
            return folder
        except OSError as error:
            problem = error
            if folder:
                shutil.rmtree(folder, ignore_errors=True)
    raise OSError("%s (%s)" % ({no_room!r}, problem.strerror))
def lost():
    raise OSError("the debugger has gone")
def line(channel):
    found = b""
    while not found.endswith(b"\\n"):
        found += channel.recv(1) or lost()
    return found.decode()
def say(channel, text):
    channel.sendall(text.encode() + b"\\n")
def run(pairs):
    import os
    theirs, sockets = [each for _, each in pairs], []
    try:
        import _socket
        sockets += [_socket.socket(fileno=each) for each in theirs]
        begin(pairs, sockets)
    except BaseException as problem:
        if -1 not in [each.detach() for each in sockets]:
            refuse(theirs, told(problem))
            for each in (*theirs, *(ours for ours, _ in pairs)):
                os.close(each)
def refuse(theirs, error):
    import os, time
    os.write(theirs[0], refusal(error) + bytes([10]))
    os.set_blocking(theirs[0], False)
    for _ in range(int({seconds!r} * 20)):  # until the debugger has taken its ends, and hung up
        try:
            if not os.read(theirs[0], 4096):
                return
        except BlockingIOError:
            time.sleep(0.05)
try:
    run(SOCKETS)
except BaseException:
    pass
"""
)
"""Is debugged over the sockets that gdb made, and gets our modules by the first where it cannot see our files."""
