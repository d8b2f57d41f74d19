"""A CPython 3.14 made of bytes: what its `_Py_DebugOffsets` promise, at offsets that no real one has."""

import struct

from pyharness.reading.python.layout import _GROUPS, _KEYS
from pyharness.reading.python.tables import OFFSETS

_BY_INTERPRETER = 3


class Synthetic:
    """Memory with one thread: <module>, then a call through C, then middle and inner; `read` reads it."""

    runtime = 0x10000

    def __init__(self):
        self.bytes = {}
        self.next = 0x20000
        # Another table than the real one: every offset that the process says is 8 more.
        self.offsets = dict(OFFSETS[3, 14])
        for key in _KEYS:
            if not key.startswith(("object.", "type.", "str.", "bytes.", "tuple.")):
                self.offsets[key] += 8
        self._runtime()

    def read(self, address, size):
        data = bytes(self.bytes.get(address + index, 0) for index in range(size))
        if not any(address + index in self.bytes for index in range(size)):
            raise OSError(f"nothing at {address:#x}")
        return data

    def put(self, address, data):
        self.bytes.update(enumerate(data, address))

    def struct(self, **fields):
        """An object with 64-bit fields `group__field=value`; its address."""
        address, self.next = self.next, self.next + 0x1000
        for name, value in fields.items():
            packed = value if isinstance(value, bytes) else struct.pack("<q", value)
            self.put(address + self.offsets[name.replace("__", ".")], packed)
        return address

    def _runtime(self):
        self._types()
        frames = self._frames()
        gil = self.struct(gil__last_holder=0, gil__locked=struct.pack("<i", 1))
        interpreter = self.struct(interpreter__next=0, interpreter__id=0, interpreter__ceval_gil=gil)
        thread = self.struct(
            thread__next=0,
            thread__interp=interpreter,
            thread__current_frame=frames,
            thread__thread_id=0x7F00,
            thread__native_thread_id=77,
        )
        self.put(gil + self.offsets["gil.last_holder"], struct.pack("<q", thread))
        self.put(interpreter + self.offsets["interpreter.threads_head"], struct.pack("<q", thread))
        self.put(self.runtime + self.offsets["runtime.interpreters_head"], struct.pack("<q", interpreter))
        self.put(self.runtime, b"xdebugpy" + struct.pack("<QQ", 0x030E00F0, 0) + self._said())

    def _said(self):
        """`_Py_DebugOffsets` after its head."""
        values = {name: self.offsets[key] for key, name in _KEYS.items()}
        values["interpreter_state.gil_runtime_state"] = 512
        values["interpreter_state.gil_runtime_state_locked"] = 512 + self.offsets["gil.locked"]
        values["interpreter_state.gil_runtime_state_holder"] = 512 + self.offsets["gil.last_holder"]
        names = [f"{group}.{field}" for group, fields in _GROUPS[3, 14].items() for field in fields.split()]
        return struct.pack(f"<{len(names)}Q", *(values.get(name, 0) for name in names))

    def _types(self):
        name = self.struct()
        self.put(name, b"NoneType\0")
        kind = self.struct(type__tp_name=name, type__tp_flags=0, type__tp_base=0)
        self.none = self.struct(object__ob_type=kind)

    def text(self, text):
        state = 1 << 2 | 1 << 5 | 1 << 6  # one byte a character, compact, ASCII
        fields = {"str__length": len(text), "str__state": struct.pack("<I", state), "str__ascii_data": text.encode()}
        return self.struct(**fields)

    def code(self, name, line):
        names = self.struct(tuple__ob_size=3, tuple__ob_item=self.text("x"))
        for index, each in enumerate("yz", 1):
            self.put(names + self.offsets["tuple.ob_item"] + 8 * index, struct.pack("<q", self.text(each)))
        # one entry, line + 2 for 8 instructions: 0x80 | 12 << 3 | 7, then two columns
        table = self.struct(bytes__ob_size=3, bytes__ob_sval=b"\xe7\0\0")
        return self.struct(
            code__filename=self.text("a.py"),
            code__qualname=self.text(name),
            code__firstlineno=struct.pack("<i", line),
            code__linetable=table,
            code__first_traceable=struct.pack("<i", 1),
            code__localsplusnames=names,
            code__localspluskinds=self.struct(bytes__ob_size=3, bytes__ob_sval=b"\x20\x20\x20"),
        )

    def frame(self, previous, owner, name=None, line=0, units=3):
        code = self.code(name, line) if name else self.none
        return self.struct(
            frame__code=code | 1,
            frame__previous=previous,
            frame__instruction=code + self.offsets["code.code"] + 2 * units,
            frame__owner=bytes([owner]),
            frame__localsplus=struct.pack("<3q", self.none | 1, 5 << 2 | 3, 1),
        )

    def _frames(self):
        base = self.frame(0, _BY_INTERPRETER)
        first = self.frame(base, _BY_INTERPRETER)
        module = self.frame(first, 0, "<module>", 1)
        second = self.frame(module, _BY_INTERPRETER)
        middle = self.frame(second, 0, "middle", 5)
        half_made = self.frame(middle, 0, "half_made", 8, units=0)
        self.entry = first, second
        return self.frame(half_made, 1, "inner", 10)
