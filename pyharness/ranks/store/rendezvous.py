"""Finds the store of a job: at its own address, or by that of the launcher's rendezvous, which says where it is.

With torchrun's ``c10d`` rendezvous the port of the job's store is a free one, which nobody has typed. The rendezvous
has a store, too (``--rdzv-endpoint``), and the first rank's address under ``torch.rendezvous.RUN.ROUND``.
"""

from __future__ import annotations

import re
import socket
from contextlib import suppress
from typing import TYPE_CHECKING

from pyharness.model.errors import HarnessError, UsageError
from pyharness.protocol import store as keys
from pyharness.ranks.store.wire import NoStoreError, TcpStore

if TYPE_CHECKING:
    from collections.abc import Iterable

_ADDRESS = re.compile(r"(?:\[(?P<six>[0-9a-fA-F:.%\w]+)\]|(?P<host>[^:\s]+)):(?P<port>\d{1,5})", re.ASCII)
_WHERE = "It is MASTER_ADDR:MASTER_PORT of the ranks, or torchrun's --rdzv-endpoint."
_ROUND = re.compile(r"/torch\.rendezvous\.(?P<run>.*)\.(?P<round>\d+)/MASTER_PORT", re.ASCII)
_HERE = {"localhost", "127.0.0.1", "::1"}
_PATIENCE = 5.0


def address_of(text: str) -> tuple[str, int]:
    """Host and port of ``HOST:PORT``."""
    found = _ADDRESS.fullmatch(text)
    if not found or not 0 < int(found["port"]) < 1 << 16:
        raise UsageError(f"{text!r} is no address of a store.", f"Write HOST:PORT. {_WHERE}")
    return found["six"] or found["host"], int(found["port"])


def connected(host: str, port: int) -> TcpStore:
    """A connection to the job's store; `HarnessError` that says why there is none."""
    store = _connected(host, port)
    try:
        if store.has(keys.HOSTS) or not (last := _last_round(store.keys())):
            return store
        there = _said(store, last, host)
    except OSError:  # an old store, which names no keys
        there = host, port
    store.close()
    try:
        return _connected(*there)
    except HarnessError as error:
        with suppress(HarnessError):  # a name of the job's own network means nothing here; often both are of one host
            return _connected(host, there[1])
        raise HarnessError(f"The rendezvous sends us on. {error.message}", error.remedy) from error


def _connected(host: str, port: int) -> TcpStore:
    where = f"{host}:{port}"
    try:
        return TcpStore(host, port, _PATIENCE)
    except NoStoreError as error:
        raise HarnessError(f"What listens at {where} is no store of torch.distributed's.", _WHERE) from error
    except socket.gaierror as error:
        raise HarnessError(f"No host is called {host}: {error.strerror}.", _WHERE) from error
    except TimeoutError as error:
        raise HarnessError(f"Nothing answers at {where} within {_PATIENCE:g} s.", _WHERE) from error
    except ConnectionResetError as error:
        raise HarnessError(f"What listens at {where} is no store of torch.distributed's: {error}.", _WHERE) from error
    except (OSError, UnicodeError) as error:
        said = getattr(error, "strerror", None) or error
        raise HarnessError(f"There is no store at {where}: {said}.", f"{_WHERE} Has the job ended?") from error


def _last_round(names: Iterable[str]) -> str:
    """What the keys of the last rendezvous begin with; empty where there was none."""
    found = [(int(match["round"]), match["run"]) for name in names if (match := _ROUND.fullmatch(name))]
    if len(runs := {run for _round, run in found}) > 1:
        listed = ", ".join(sorted(runs))
        raise UsageError(f"Jobs of several launchers meet there: {listed}.", "Name MASTER_ADDR:MASTER_PORT of one.")
    return f"/torch.rendezvous.{max(found)[1]}.{max(found)[0]}" if found else ""


def _said(store: TcpStore, last: str, asked: str) -> tuple[str, int]:
    """Where the rendezvous says that the job's store is, for somebody who has found the rendezvous at ``asked``."""
    host, port = (store.get(f"{last}/MASTER_{name}").decode("utf-8", "replace") for name in ("ADDR", "PORT"))
    found, number = address_of(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
    return asked if found in _HERE else found, number
