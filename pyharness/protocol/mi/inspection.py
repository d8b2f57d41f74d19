"""Commands that look at a program and change its values: expressions, variables, memory, machine code."""

from __future__ import annotations

from typing import Any, Literal

from pyharness.model.frozen import frozen
from pyharness.model.variable import Scope, Variable
from pyharness.protocol.mi.command import Command, Running

NO_FRAME = "There is no native frame "
"""How gdb's answer begins to an expression in a frame that the thread does not have."""


@frozen
class Evaluate(Running[str], name="ph-evaluate"):
    """The text of a gdb expression, which may call functions of the program."""

    thread: int
    expression: str
    level: int = 0
    """The level in gdb's own stack, not in the merged one."""

    @property
    def code(self) -> str:
        """The expression."""
        return self.expression


@frozen
class AgentReply:
    """What the agent said, or why it was not asked."""

    answer: Any = None
    """The agent's, see ``protocol.agent``."""
    later: bool = False
    """The thread cannot be called now."""
    holder: int = 0
    """Where ``later``: the thread that stands and holds the GIL, 0 where a stop of another thread comes first."""
    is_blocked: bool = False
    """Where ``later``: the holder runs, but waits in native code, for the thread itself maybe."""
    is_elsewhere: bool = False
    """The thread runs Python of a subinterpreter, which has no agent."""
    is_gone: bool = False
    """There is nobody to ask: the program's interpreter has ended."""
    runs: bool = False
    """Where ``later``: the thread was called, and runs on without gdb: ``EndCall`` has the answer."""


@frozen
class AskAgent(Command[AgentReply], name="ph-agent"):
    """Run a request on a stopped thread of the program."""

    thread: int
    request: Any
    """One of ``protocol.agent``, as it is written there."""


@frozen
class EndCall(Command[AgentReply], name="ph-end-call"):
    """What became of a call that gdb gave up: its answer, or that it still runs."""

    thread: int


@frozen
class Scopes(Command[tuple[Scope, ...]], name="ph-scopes"):
    """The groups of variables of a frame; the first one has its variables with it."""

    thread: int
    level: int


@frozen
class Children(Command[tuple[Variable, ...]], name="ph-children"):
    """Variables behind a handle, the named ones before the counted."""

    handle: int
    start: int = 0
    count: int = 0
    """0 for as many as one answer may have."""
    filter: Literal["named", "indexed"] | None = None
    """Only those; ``start`` counts among them."""


@frozen
class SetVariable(Running[Variable], name="ph-set-variable"):
    """Set a variable behind a handle; the variable as it is then."""

    thread: int
    """The thread of the handle."""
    handle: int
    name: str
    value: str
    """An expression of its language; a native one may call functions of the program."""

    @property
    def code(self) -> str:
        """The value."""
        return self.value


@frozen
class KernelLines:
    """Where a kernel that torch.compile made computes an element of a node."""

    file: str
    conditions: dict[str, str]
    """By the number of a line, in which round of its loops that is: C++ over the loops' variables."""


@frozen
class FindElement(Command[KernelLines], name="ph-find-element"):
    """Where the kernel that a frame is in computes an element."""

    thread: int
    level: int
    node: str
    """Empty for that of the frame's line."""
    element: tuple[int, ...]


@frozen
class EvaluateVariable(Running[Variable], name="ph-evaluate-variable"):
    """An expression as a variable, in the language of its frame; a native one may call functions of the program."""

    thread: int
    level: int
    expression: str
    whole: bool = False
    """Not cut to one line."""

    @property
    def code(self) -> str:
        """The expression."""
        return self.expression


@frozen
class ForgetVariables(Command[None], name="ph-forget-variables"):
    """Make handles void: the program goes on."""

    thread: int | None = None
    """Only this thread's; ``None`` for all."""


@frozen
class GdbCommand(Command[str], name="ph-gdb-command"):
    """What gdb prints for a command of its own, which a person typed; a thread that stands is selected."""

    thread: int
    command: str


@frozen
class Set(Running[str], name="ph-set"):
    """Give a variable, a member, a register (``$rax``) or an element of a tensor a value; the value as it is then."""

    thread: int
    expression: str
    value: str
    level: int = 0

    @property
    def code(self) -> str:
        """The value."""
        return self.value


@frozen
class Completion:
    """A name that could stand at the end of the text."""

    label: str
    kind: str
    """``variable``, ``field``, ``function`` or ``register``."""
    length: int
    """How many characters at the end of the text it replaces."""


@frozen
class Complete(Command[tuple[Completion, ...]], name="ph-complete"):
    """Names for the end of a text in the language of the frame, variables first; at most a hundred."""

    thread: int
    text: str
    level: int = 0


@frozen
class Instruction:
    """One machine instruction; empty and 0 where nothing is known."""

    address: int
    bytes: str
    """In hex, separated by blanks."""
    text: str
    symbol: str = ""
    """``name+offset``."""
    file: str = ""
    line: int = 0
    valid: bool = True
    """``False`` for a filler where there is no instruction: at the edges of memory."""


@frozen
class Disassemble(Command[tuple[Instruction, ...]], name="ph-disassemble"):
    """Exactly ``count`` instructions from ``address`` + ``offset`` bytes + ``instruction_offset`` instructions."""

    address: int
    count: int
    offset: int = 0
    instruction_offset: int = 0


@frozen
class Bytes:
    """Memory, as far as it could be read."""

    address: int
    data: bytes
    unreadable: int
    """How many bytes of those asked for come after ``data`` and were not there."""


@frozen
class ReadMemory(Command[Bytes], name="ph-read-memory"):
    """At most ``count`` bytes from ``address`` + ``offset``."""

    address: int
    count: int
    offset: int = 0


@frozen
class WriteMemory(Command[int], name="ph-write-memory"):
    """Write all of ``data`` at ``address`` + ``offset``, or nothing; how many bytes that were."""

    address: int
    data: bytes
    offset: int = 0
