"""Finds the store of a job: at its own address, or by that of the launcher's rendezvous, which says where it is.

With torchrun's ``c10d`` rendezvous the port of the job's store is a free one, which nobody has typed. The rendezvous
has a store, too (``--rdzv-endpoint``), and the first rank's address under ``torch.rendezvous.RUN.ROUND``.
"""

from __future__ import annotations

import re
import socket
from contextlib import suppress
from typing import TYPE_CHECKING

from pyharness.model.errors import HarnessError, UsageError, nearest
from pyharness.protocol import store as keys
from pyharness.ranks.store.missing import GoneError, NobodyError, UnreachableError
from pyharness.ranks.store.wire import PATIENCE, NoStoreError, TcpStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Address = tuple[str, int]

_ADDRESS = re.compile(r"(?:\[(?P<six>[0-9a-fA-F:.%\w]+)\]|(?P<host>[^:\s]+)):(?P<port>\d{1,5})", re.ASCII)
_WHERE = "It is MASTER_ADDR:MASTER_PORT of the ranks, or torchrun's --rdzv-endpoint."
_ROUND = re.compile(r"/torch\.rendezvous\.(?P<run>.*)\.(?P<round>\d+)/MASTER_PORT", re.ASCII)
_HERE = {"localhost", "127.0.0.1", "::1"}


def address_of(text: str) -> tuple[str, int]:
    """Host and port of ``HOST:PORT``."""
    found = _ADDRESS.fullmatch(text)
    if not found or not 0 < int(found["port"]) < 1 << 16:
        raise UsageError(f"{text!r} is no address of a store.", f"Write HOST:PORT. {_WHERE}")
    return found["six"] or found["host"], int(found["port"])


def connected(host: str, port: int, job: str | None = None) -> TcpStore:
    """A connection to the store of a job, or of the only one; `HarnessError` that says why there is none."""
    store = _connected(host, port)
    try:
        if store.has(keys.HOSTS) or not (rounds := _last_rounds(store.keys())):
            return store
        there = {run: said for run, last in rounds.items() if (said := _said(store, last, host))}
    except OSError:  # an old store, which names no keys
        store.close()
        return _connected(host, port)
    store.close()
    return _sent_on(there, host, job)


def _sent_on(there: Mapping[str, Address], host: str, job: str | None) -> TcpStore:
    """The store of a job that met at a rendezvous of ``host``'s; of several jobs, the one that has its store still."""
    if not there:
        raise NobodyError("The rendezvous does not say where the store of its job is.", _WHERE)
    if job is not None and job not in there:
        raise UsageError(f"No job {job!r} met there.", nearest(job, there) or f"There: {_listed(there)}.")
    if len(there) == 1 or job is not None:
        return _of_job(there[job] if job is not None else next(iter(there.values())), host)
    stores = {}
    for run, address in there.items():
        with suppress(HarnessError):  # it has ended
            stores[run] = _of_job(address, host)
    if len(stores) == 1:
        return next(iter(stores.values()))
    for store in stores.values():
        store.close()
    if not stores:
        raise NobodyError(f"Jobs of several launchers met there, and have ended: {_listed(there)}.", _WHERE)
    raise UsageError(f"Jobs of several launchers meet there: {_listed(stores)}.", "Name one of them with --job.")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, sorted(names)))


def _of_job(there: Address, host: str) -> TcpStore:
    try:
        return _connected(*there)
    except HarnessError as error:
        with suppress(HarnessError):  # a name of the job's own network means nothing here; often both are of one host
            return _connected(host, there[1])
        kinds = {GoneError: NobodyError, UnreachableError: UnreachableError}  # the rendezvous is there still
        raise kinds.get(type(error), HarnessError)(
            f"The rendezvous sends us on. {error.message}", error.remedy
        ) from error


def _connected(host: str, port: int) -> TcpStore:
    where = f"{host}:{port}"
    try:
        return TcpStore(host, port)
    except NoStoreError as error:
        raise HarnessError(f"What listens at {where} is no store of torch.distributed's.", _WHERE) from error
    except socket.gaierror as error:
        raise HarnessError(f"No host is called {host}: {error.strerror}.", _WHERE) from error
    except TimeoutError as error:
        raise UnreachableError(f"Nothing answers at {where} within {PATIENCE:g} s.", _WHERE) from error
    except ConnectionResetError as error:
        raise GoneError(f"What listens at {where} is no store of torch.distributed's: {error}.", _WHERE) from error
    except ConnectionRefusedError as error:
        raise GoneError(f"There is no store at {where}: {error.strerror}.", f"{_WHERE} Has the job ended?") from error
    except (OSError, UnicodeError) as error:
        said = getattr(error, "strerror", None) or error
        raise HarnessError(f"There is no store at {where}: {said}.", f"{_WHERE} Has the job ended?") from error


def _last_rounds(names: Iterable[str]) -> dict[str, str]:
    """What the keys of the last round of each job's rendezvous begin with, by its ``--rdzv-id``."""
    found = sorted((int(match["round"]), match["run"]) for name in names if (match := _ROUND.fullmatch(name)))
    return {run: f"/torch.rendezvous.{run}.{number}" for number, run in found}


def _said(store: TcpStore, last: str, asked: str) -> Address | None:
    """Where the rendezvous says that a job's store is, for somebody who has found the rendezvous at ``asked``."""
    host, port = (store.get(f"{last}/MASTER_{name}").decode("utf-8", "replace") for name in ("ADDR", "PORT"))
    try:
        found, number = address_of(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
    except UsageError:
        return None
    return asked if found in _HERE else found, number
