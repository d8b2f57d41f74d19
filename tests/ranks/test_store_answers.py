"""What ``pyharness ranks --store`` says of stores and answers that are not as they should be; all else is shown."""

import json
import socket
import subprocess
import threading
from dataclasses import replace

import pytest
from torch.distributed import TCPStore

from kit import command
from kit.made_job import a_job
from kit.ranked_job import free_port
from pyharness.model.codec import encode
from pyharness.protocol import store as keys
from pyharness.ranks.store import again, parts
from pyharness.ranks.store.again import ask_again
from pyharness.ranks.store.asking import Asked
from pyharness.ranks.store.missing import NobodyError, SilentError
from pyharness.ranks.store.parts import MOST, packed, unpacked
from pyharness.ranks.store.wire import NoStoreError, TcpStore

JOB = a_job(8, culprit=5)


@pytest.fixture
def port():
    """The port of a store of torch's own."""
    server = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    yield server.port
    del server


@pytest.fixture
def store(port):
    with TcpStore("127.0.0.1", port) as client:
        yield client


@pytest.fixture
def ask(capsys, port):
    """Ask, as the first one who does; in this process."""

    def asked(*words, address=None):
        return typed(capsys, "ranks", "--store", address or f"127.0.0.1:{port}", "--timeout", "0.2", *words)

    return asked


def typed(capsys, *words):
    try:
        return command.typed(capsys, *words)
    except SystemExit as ended:
        return subprocess.CompletedProcess(words, ended.code, *capsys.readouterr())


def line(message):
    return json.dumps(encode(message)).encode() + b"\n"


def host_of(name, rank, **more):
    return keys.Host(f"host-{name}", name, f"{name}-{rank}", rank, **more)


def comes(store, name, rank, text=None, *, of=None, **otherwise):
    """A host answers the first question with this text, before it is asked; ``of`` says its job, and how many ranks."""
    host = host_of(name, rank, **(of or {}))
    store.append(keys.HOSTS, line(host))
    if text is None and not otherwise:
        return
    sent = packed(text or "")
    for index, part in enumerate(sent):
        store.set(keys.part(1, host.by, index), part)
    answer = keys.Answer(host.by, len(sent))
    store.set(keys.answer(1, host.host), line(replace(answer, **otherwise)))


def ranks(*numbers):
    return json.dumps(replace(JOB, ranks=tuple(JOB.ranks[number] for number in numbers)).to_json())


def test_torch_and_we_read_the_same(port, store):
    theirs = TCPStore("127.0.0.1", port)
    theirs.set("a key", "a value")
    assert store.get("/a key") == b"a value"
    store.set("/mine", b"\0of any bytes\xff")
    assert theirs.get("mine") == b"\0of any bytes\xff"
    store.append("/mine", b"!")
    assert theirs.get("mine").endswith(b"!")
    assert (store.add("/count", 2), theirs.add("count", 3)) == (2, 5)
    assert (store.has("/mine"), store.has("/none")) == (True, False)
    store.delete("/mine")
    assert not theirs.check(["mine"])
    assert not store.wait("/late", 0.01)
    threading.Timer(0.1, theirs.set, ("late", "now")).start()
    assert store.wait("/late", 30)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"text": None}, "no answer within 0.2 s, so its ranks are not shown."),
        ({"text": '{"format": "pyharness ranks 99"}'}, "is a file of another version: 'pyharness ranks 99'"),
        ({"text": "["}, "Its answer cannot be read: "),
        ({"text": "[" * 100_000}, "Its answer cannot be read: it is nested too deep."),
        ({"text": ranks(1), "parts": 0}, f"Its answer has 0 parts, and 1 to {MOST} are read."),
        ({"text": ranks(1), "parts": 10**9}, "Its answer has 1000000000 parts"),
        ({"text": ranks(1), "by": "nobody"}, "Its answer cannot be read: it is cut off."),
        ({"error": "no \x1b[31mpermission"}, "beta (rank 4 and those beside): no \\x1b[31mpermission"),
    ],
    ids=["none", "other version", "no JSON", "deep", "no parts", "many parts", "lost parts", "error"],
)
@pytest.mark.parametrize("port", [True], indirect=True)
def test_one_of_two_hosts(store, ask, answer, said):
    comes(store, "alpha", 0, ranks(0, 1, 2, 3))
    comes(store, "beta", 4, **answer)
    comes(store, "gone", 9)
    store.append(keys.HOSTS, line(replace(host_of("gone", 9), is_gone=True)))
    shown = ask()
    assert shown.returncode == 1
    assert said in shown.stderr
    assert "gone" not in shown.stderr
    assert "[0-3]" in shown.stdout
    assert "[4-7] not found here" in shown.stdout


def test_answers_of_all_hosts_are_one_job_and_leave_nothing_large(store, ask):
    comes(store, "beta", 4, ranks(4, 5, 6, 7))
    comes(store, "alpha", 0, ranks(0, 1, 2, 3))
    shown = ask("--threads")
    assert shown.stdout.splitlines()[0] == "8 ranks of train.py (world 8)"
    assert "culprit: rank 5 never came to all_reduce #2 of default_pg. It sleeps in layer5" in shown.stdout
    assert (shown.returncode, shown.stderr) == (1, "")
    assert not store.has(keys.part(1, "beta-4", 0))


@pytest.mark.parametrize("port", [True], indirect=True)
def test_nobody_who_answers(store, ask):
    nobody = ask()
    assert nobody.returncode == 1
    assert "The store answers, and no program of its job does.\nStart the ranks by `pyharness run" in nobody.stderr
    comes(store, "alpha", 0)
    assert "No host has shown its ranks.\nalpha (rank 0 and those beside): no answer within 0.2 s" in ask().stderr
    store.append(keys.HOSTS, b'{"host": 3}\n')
    assert "What the store has under our name is not ours: who answers lacks by, name, rank." in ask().stderr


@pytest.mark.parametrize("port", [True], indirect=True)
@pytest.mark.parametrize("name", ["localhost", "no.such.host.invalid"])
def test_the_rendezvous_says_where_the_store_is(store, ask, port, name):
    comes(store, "alpha", 0, ranks(*range(8)))
    meeting = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    for number, where in ((9, free_port()), (10, port)):
        meeting.set(f"torch.rendezvous.a.job.{number}/MASTER_ADDR", name)
        meeting.set(f"torch.rendezvous.a.job.{number}/MASTER_PORT", str(where))
    assert "culprit: rank 5" in ask(address=f"127.0.0.1:{meeting.port}").stdout
    meeting.set("torch.rendezvous.a.job.11/MASTER_ADDR", name)
    meeting.set("torch.rendezvous.a.job.11/MASTER_PORT", str(free_port()))
    assert "The rendezvous sends us on. " in ask(address=f"127.0.0.1:{meeting.port}").stderr
    meeting.set("torch.rendezvous.unfinished.0/MASTER_PORT", "1")
    assert "The rendezvous sends us on. " in ask(address=f"127.0.0.1:{meeting.port}").stderr


@pytest.mark.parametrize("port", [True], indirect=True)
def test_several_jobs_at_one_rendezvous(store, ask, port):
    comes(store, "alpha", 0, ranks(*range(8)), of={"job": "one"})
    meeting = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    other = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    for run, where in (("one", port), ("two", other.port), ("three", free_port())):
        meeting.set(f"torch.rendezvous.{run}.0/MASTER_ADDR", "127.0.0.1")
        meeting.set(f"torch.rendezvous.{run}.0/MASTER_PORT", str(where))

    def said(*words):
        return ask(*words, address=f"127.0.0.1:{meeting.port}")

    several = said()
    assert "Jobs of several launchers meet there: 'one', 'two'.\nName one of them with --job." in several.stderr
    assert several.returncode == 2
    assert "No job 'four' met there.\nThere: 'one', 'three', 'two'." in said("--job", "four").stderr
    assert "The store answers, and no program of its job does." in said("--job", "two").stderr
    assert "There is no store at " in said("--job", "three").stderr
    assert "culprit: rank 5" in said("--job", "one").stdout
    meeting.delete_key("torch.rendezvous.two.0/MASTER_PORT")
    assert "no answer within 0.2 s" in said().stderr, "of the only one that has a store, which is asked again"


@pytest.mark.parametrize("port", [True], indirect=True)
def test_several_jobs_in_one_store(store, ask):
    comes(store, "alpha", 0, ranks(*range(8)), of={"job": "7.0"})
    comes(store, "beta", 0, ranks(1), of={"job": "7.1"})
    store.append(keys.HOSTS, line(replace(host_of("gone", 0, job="7.2"), is_gone=True)))
    several = ask()
    assert several.returncode == 2
    assert "Ranks of 2 jobs answer there: '7.0', '7.1'.\nName one of them with --job." in several.stderr
    assert "No job 'x' answers there.\nThere: '7.0', '7.1'." in ask("--job", "x").stderr
    assert "No program of the job '7.2' answers now." in ask("--job", "7.2").stderr
    assert "culprit: rank 5" in ask("--job", "7.0").stdout
    assert store.get(keys.question(1)) == keys.asked_of("7.0")


@pytest.mark.parametrize("port", [True], indirect=True)
@pytest.mark.parametrize("world", [8, 12], ids=["another host in its place", "fewer ranks"])
def test_hosts_of_an_earlier_try_are_not_asked(store, ask, world):
    """They were lost, and could not say that they go."""
    for name, rank in (("lost", 0), ("lost", 1), ("lost too", 4)):
        comes(store, name, rank, of={"job": "elastic", "world": world})
    comes(store, "beta", 4, ranks(4, 5, 6, 7), of={"job": "elastic", "world": 8})
    comes(store, "alpha", 0, ranks(0, 1, 2, 3), of={"job": "elastic", "world": 8})
    comes(store, "alpha", 1, of={"job": "elastic", "world": 8})
    shown = ask()
    assert "culprit: rank 5" in shown.stdout
    assert shown.stderr == ""


def test_a_watch_goes_on_until_nobody_comes_back(store, port, monkeypatch):
    comes(store, "alpha", 0, ranks(*range(8)))
    looks = ask_again(Asked("127.0.0.1", port, 0.2))
    assert len(next(looks).job.ranks) == 8
    assert isinstance(next(looks), SilentError)
    store.append(keys.HOSTS, line(replace(host_of("alpha", 0), is_gone=True)))
    assert isinstance(next(looks), NobodyError), "torchrun may begin the job anew"
    comes(store, "beta", 0)
    assert isinstance(next(looks), SilentError)
    store.append(keys.HOSTS, line(replace(host_of("beta", 0), is_gone=True)))
    monkeypatch.setattr(again, "BEGINS_ANEW", 0)
    assert list(looks) == []


def test_no_store_at_all(capsys):
    def said(*words):
        shown = typed(capsys, "ranks", "--store", *words)
        assert shown.returncode
        assert "Traceback" not in shown.stderr
        return shown.stderr

    port = free_port()
    assert f"There is no store at 127.0.0.1:{port}: Connection refused." in said(f"127.0.0.1:{port}")
    assert "No host is called no.such.host.invalid: " in said("no.such.host.invalid:1")
    for wrong in ("host", "host:", ":1", "host:0", "host:65536", "a b:1", "::1:5", "host:1:2"):
        assert f"{wrong!r} is no address of a store.\nWrite HOST:PORT." in said(wrong)
    assert "--store shows the job of that store, and takes no --merge." in said("a:1", "--merge", "x.json")
    assert "--store shows the job of that store, and takes no train.py." in said("a:1", "train.py")
    assert "--watch shows the tree, and takes no --json." in said("a:1", "--watch", "1", "--json")
    for word in ("--timeout", "--job"):
        alone = typed(capsys, "ranks", word, "1")
        assert f"{word} is for hosts that are asked, and none is." in alone.stderr


@pytest.mark.parametrize("greeting", [b"SSH-2.0-OpenSSH_9.2\r\n", b""], ids=["says", "closes"])
def test_another_server(capsys, greeting):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            connection, _ = server.accept()
            connection.sendall(greeting)
            connection.close()

        other = threading.Thread(target=serve)
        other.start()
        port = server.getsockname()[1]
        shown = typed(capsys, "ranks", "--store", f"127.0.0.1:{port}")
        other.join()
    assert f"What listens at 127.0.0.1:{port} is no store of torch.distributed's" in shown.stderr


def test_a_silent_server():
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(TimeoutError):
        TcpStore("127.0.0.1", server.getsockname()[1], 0.1)


def test_sizes_have_limits(store, monkeypatch):
    store.set("/large", b" " * (5 << 20))
    with pytest.raises(NoStoreError, match="a value has 5242880 bytes"):
        store.get("/large")
    sent = packed(" " * 5000)
    monkeypatch.setattr(parts, "LONGEST", 4999)
    with pytest.raises(ValueError, match="it is too long"):
        unpacked(sent)
    monkeypatch.setattr(parts, "MOST", 0)
    with pytest.raises(ValueError, match="its ranks are 0 MiB of JSON, compressed, and 0 are sent"):
        packed(" ")
