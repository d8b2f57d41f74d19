"""Memory and machine code: read, write, disassemble, step by instructions, and the native modules."""

from __future__ import annotations

import base64
import binascii
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.dap.registry import request
from pyharness.debugger.native.code import NativeCode
from pyharness.model.errors import HarnessError, UsageError

if TYPE_CHECKING:
    from pyharness.dap.arguments import Arguments
    from pyharness.dap.session import Session
    from pyharness.dapwire.wire import Message
    from pyharness.protocol.mi import Instruction, Module

_MOST_BYTES = 1 << 20
_MOST_INSTRUCTIONS = 10_000


def _code(session: Session) -> NativeCode:
    return NativeCode(session.require_program().attach())


def _address(arguments: Arguments) -> int:
    text = arguments.text("memoryReference")
    try:
        return int(text, 0)
    except ValueError:
        raise UsageError(f"{text!r} is not an address.") from None


def _bounded(arguments: Arguments, name: str, most: int) -> int:
    value = arguments.integer(name)
    if not 0 <= value <= most:
        raise UsageError(f"{arguments.request}: {name!r} must be 0 to {most}.")
    return value


@request("readMemory", supportsReadMemoryRequest=True)
def read_memory(session: Session, arguments: Arguments) -> Message:
    """Bytes, as far as they are mapped."""
    count = _bounded(arguments, "count", _MOST_BYTES)
    address, offset = _address(arguments), arguments.integer("offset", 0)
    found = _code(session).read(address, count, offset)
    data = base64.b64encode(found.data).decode("ascii")
    return {"address": hex(found.address), "data": data, "unreadableBytes": found.unreadable}


@request("writeMemory", needs="change", supportsWriteMemoryRequest=True)
def write_memory(session: Session, arguments: Arguments) -> Message:
    """All of the bytes, or none."""
    try:
        data = base64.b64decode(arguments.text("data"), validate=True)
    except binascii.Error as error:
        raise UsageError(f"writeMemory: 'data' is not base64: {error}.") from error
    _code(session).write(_address(arguments), data, arguments.integer("offset", 0))
    return {"bytesWritten": len(data)}


@request("disassemble", supportsDisassembleRequest=True)
def disassemble(session: Session, arguments: Arguments) -> Message:
    """Exactly as many instructions as were asked for; what is none stands as invalid."""
    found = _code(session).disassemble(
        _address(arguments),
        _bounded(arguments, "instructionCount", _MOST_INSTRUCTIONS),
        offset=arguments.integer("offset", 0),
        instruction_offset=arguments.integer("instructionOffset", 0),
    )
    return {"instructions": [_instruction(each) for each in found]}


def _instruction(each: Instruction) -> Message:
    body: dict[str, Any] = {"address": hex(each.address), "instruction": each.text or "(no instruction)"}
    if not each.valid:
        return {**body, "presentationHint": "invalid"}
    body |= {"instructionBytes": each.bytes, **({"symbol": each.symbol} if each.symbol else {})}
    if each.file:
        body |= {"location": {"name": Path(each.file).name, "path": each.file}, "line": each.line}
    return body


@request("modules", needs="program", supportsModulesRequest=True)
def modules(session: Session, arguments: Arguments) -> Message:
    """The native libraries, once gdb is attached; which of them are the user's own, and what is known of each."""
    shell = session.require_program()
    if shell.native is None and shell.machine.focus is None:
        raise HarnessError("The libraries are known while the program is stopped.", "Pause it first.")
    found = [_module(each) for each in _code(session).modules()]
    start, count = max(0, arguments.integer("startModule", 0)), arguments.integer("moduleCount", 0)
    return {"modules": found[start : start + count] if count > 0 else found[start:], "totalModules": len(found)}


def _module(each: Module) -> Message:
    optional = {"symbolFilePath": each.symbol_file, "version": each.version or each.build_id}
    return {
        "id": each.id,
        "name": each.name,
        "path": each.path,
        "isUserCode": each.user_code,
        "symbolStatus": each.symbols,
        "addressRange": f"{each.start:#x}-{each.end:#x}",
        **{name: value for name, value in optional.items() if value},
    }
