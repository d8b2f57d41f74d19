"""Evaluates the DWARF expressions of call frame information: PLT stubs, signal frames, hand-written assembly.

Source: DWARF 5, section 2.5.1. Operations that make no sense in call frames (objects, pieces, calls) are refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.reading.binaries.byte_reader import MASK64, Reader

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    ReadMemory = Callable[[int, int], bytes]

MAX_STEPS = 1000
_SIGN = 1 << 63


class ExpressionError(ValueError):
    """An expression that call frame information may not hold, or one that does not end."""


def _signed(value: int) -> int:
    return (value ^ _SIGN) - _SIGN


def _divide(left: int, right: int) -> int:
    quotient = abs(_signed(left)) // abs(_signed(right))
    return quotient if (left ^ right) < _SIGN else -quotient


_BINARY: dict[int, Callable[[int, int], int]] = {
    0x1A: lambda left, right: left & right,
    0x1B: _divide,
    0x1C: lambda left, right: left - right,
    0x1D: lambda left, right: left % right,
    0x1E: lambda left, right: left * right,
    0x21: lambda left, right: left | right,
    0x22: lambda left, right: left + right,
    0x24: lambda left, right: left << min(right, 64),
    0x25: lambda left, right: left >> min(right, 64),
    0x26: lambda left, right: _signed(left) >> min(right, 64),
    0x27: lambda left, right: left ^ right,
    0x29: lambda left, right: int(left == right),
    0x2A: lambda left, right: int(_signed(left) >= _signed(right)),
    0x2B: lambda left, right: int(_signed(left) > _signed(right)),
    0x2C: lambda left, right: int(_signed(left) <= _signed(right)),
    0x2D: lambda left, right: int(_signed(left) < _signed(right)),
    0x2E: lambda left, right: int(left != right),
}
_UNARY: dict[int, Callable[[int], int]] = {
    0x19: lambda value: abs(_signed(value)),
    0x1F: lambda value: -value,
    0x20: lambda value: ~value,
}
_CONSTANTS: dict[int, Callable[[Reader], int]] = {
    0x03: Reader.u64,
    0x08: Reader.u8,
    0x09: Reader.s8,
    0x0A: Reader.u16,
    0x0B: Reader.s16,
    0x0C: Reader.u32,
    0x0D: Reader.s32,
    0x0E: Reader.u64,
    0x0F: Reader.s64,
    0x10: Reader.uleb,
    0x11: Reader.sleb,
}
_STACK: dict[int, Callable[[list[int]], object]] = {
    0x12: lambda stack: stack.append(stack[-1]),
    0x13: lambda stack: stack.pop(),
    0x14: lambda stack: stack.append(stack[-2]),
    0x16: lambda stack: stack.insert(-1, stack.pop()),
    0x17: lambda stack: stack.insert(-2, stack.pop()),
}


def evaluate(expression: bytes, registers: Mapping[int, int], read_memory: ReadMemory, *initial: int) -> int:
    """Value of ``expression`` on a stack that starts with ``initial``; ``ExpressionError`` where it has none."""
    reader, stack = Reader(expression), list(initial)
    try:
        for _ in range(MAX_STEPS):
            if reader.offset >= len(expression):
                return stack[-1] & MASK64
            _step(reader, stack, registers, read_memory)
    except (IndexError, KeyError, ZeroDivisionError) as error:
        raise ExpressionError(f"cannot evaluate {expression.hex()}: {error!r}") from error
    raise ExpressionError(f"{expression.hex()} does not end")


def _step(reader: Reader, stack: list[int], registers: Mapping[int, int], read_memory: ReadMemory) -> None:
    operation = reader.u8()
    if operation in _BINARY:
        right, left = stack.pop(), stack.pop()
        stack.append(_BINARY[operation](left, right) & MASK64)
    elif operation in _UNARY:
        stack.append(_UNARY[operation](stack.pop()) & MASK64)
    elif operation in _CONSTANTS:
        stack.append(_CONSTANTS[operation](reader) & MASK64)
    elif operation in _STACK:
        _STACK[operation](stack)
    elif 0x30 <= operation < 0x50:  # DW_OP_lit0..31
        stack.append(operation - 0x30)
    elif 0x70 <= operation < 0x90:  # DW_OP_breg0..31
        stack.append((registers[operation - 0x70] + reader.sleb()) & MASK64)
    elif operation == 0x92:  # DW_OP_bregx
        stack.append((registers[reader.uleb()] + reader.sleb()) & MASK64)
    else:
        _memory_or_flow(operation, reader, stack, read_memory)


def _memory_or_flow(operation: int, reader: Reader, stack: list[int], read_memory: ReadMemory) -> None:
    if operation == 0x06:  # DW_OP_deref
        stack.append(int.from_bytes(read_memory(stack.pop(), 8), "little"))
    elif operation == 0x94:  # DW_OP_deref_size
        stack.append(int.from_bytes(read_memory(stack.pop(), reader.u8()), "little"))
    elif operation == 0x15:  # DW_OP_pick
        stack.append(stack[-1 - reader.u8()])
    elif operation == 0x23:  # DW_OP_plus_uconst
        stack.append((stack.pop() + reader.uleb()) & MASK64)
    elif operation == 0x2F:  # DW_OP_skip
        distance = reader.s16()
        reader.offset += distance
    elif operation == 0x28:  # DW_OP_bra
        distance = reader.s16()
        reader.offset += distance if stack.pop() else 0
    elif operation != 0x96:  # DW_OP_nop
        raise ExpressionError(f"operation {operation:#x} has no place in call frame information")
