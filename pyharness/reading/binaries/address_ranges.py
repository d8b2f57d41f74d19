"""Lists of address ranges that an entry of ``.debug_info`` covers: ``.debug_ranges``, and ``.debug_rnglists``.

Source: DWARF 4, section 2.17.3; DWARF 5, sections 2.17.3 and 7.25.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.reading.binaries.byte_reader import MASK64, Reader

if TYPE_CHECKING:
    from pyharness.reading.binaries.debug_entries import Unit

_LIST_INDEX = 0x23  # DW_FORM_rnglistx
_MOST = 100_000


def read_ranges(unit: Unit, form: int, value: int) -> list[tuple[int, int]]:
    """The ranges at an offset, or of an index, in the unit's section of them; ends are not included."""
    if unit.version < 5:
        return _old_ranges(unit, Reader(unit.contents(".debug_ranges"), value))
    data = unit.contents(".debug_rnglists")
    if form == _LIST_INDEX:
        value = unit.ranges_base + Reader(data, unit.ranges_base + unit.size * value).sized(unit.size)
    return _ranges(unit, Reader(data, value))


def _old_ranges(unit: Unit, reader: Reader) -> list[tuple[int, int]]:
    base, found = unit.low, []
    for _ in range(_MOST):
        low, high = reader.u64(), reader.u64()
        if not low and not high:
            break
        if low == MASK64:
            base = high
        else:
            found.append((base + low, base + high))
    return found


def _ranges(unit: Unit, reader: Reader) -> list[tuple[int, int]]:
    base, found = unit.low, []
    for _ in range(_MOST):
        kind = reader.u8()
        if not kind:
            break
        if kind in {1, 5}:  # DW_RLE_base_addressx, DW_RLE_base_address
            base = unit.address_of(reader.uleb()) if kind == 1 else reader.u64()
            continue
        found.append(_range(unit, reader, kind, base))
    return found


def _range(unit: Unit, reader: Reader, kind: int, base: int) -> tuple[int, int]:
    if kind == 4:  # DW_RLE_offset_pair
        return base + reader.uleb(), base + reader.uleb()
    if kind == 6:  # DW_RLE_start_end
        return reader.u64(), reader.u64()
    low = reader.u64() if kind == 7 else unit.address_of(reader.uleb())
    if kind == 2:  # DW_RLE_startx_endx
        return low, unit.address_of(reader.uleb())
    if kind in {3, 7}:  # DW_RLE_startx_length, DW_RLE_start_length
        return low, low + reader.uleb()
    raise ValueError(f"unknown kind of range {kind}")
