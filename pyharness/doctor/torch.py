"""torch: its version, devices, symbols and C++ ABI, and whether our extension was built for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.doctor.machine import NoTorchError, answered, machine_checks
from pyharness.doctor.registry import Area
from pyharness.doctor.tested import TORCH, parsed
from pyharness.engine import need, shelf
from pyharness.engine.compiler import compiler
from pyharness.model.errors import HarnessError
from pyharness.reading.binaries.elf import ElfError, open_elf
from pyharness.reading.tensors.layout import MEASURED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.doctor.machine import Machine
    from pyharness.doctor.tested import Version
    from pyharness.engine.facts import Facts
    from pyharness.model.results.diagnosis import Diagnosis

AREA = Area("torch")
_OPTIONAL = "Stacks and steps need none; tensors, `fx:`, `op:` and `node:` places and recordings are torch's."
_ANOTHER = "If your program uses torch, name its interpreter with --python."
_UNKNOWN = "Stacks and steps work with it, too; what gdb shows of tensors may be wrong, and recordings may be refused."
_OLDER = (
    "Stacks, steps and tensors work with it; recordings, `op:` and `node:` places where the engine is built for it."
    " Some tools of pyharness.fx need a newer torch."
)


@machine_checks.add(AREA, "torch")
def version(machine: Machine) -> Iterator[Diagnosis]:
    """Whether it can be imported, and is one that was tested."""
    try:
        answer = machine.torch
    except NoTorchError as error:
        yield AREA.inapplicable("torch", f"{error.message} {_OPTIONAL}", _ANOTHER)
        return
    except HarnessError as error:
        yield AREA.failed("torch", error)
        return
    number = parsed(answer.get("version", ""))
    if TORCH.too_old(number) or TORCH.untried(number):
        seen = f"torch {answer['version']} was not tested: {TORCH} was."
        yield AREA.warning("torch", seen, works_untested(number))
    else:
        yield AREA.ok("torch", f"torch {answer['version']} is the one that was tested{_devices(answer)}.")


def works_untested(version: Version) -> str:
    """What works with a torch that was not tested: the layout of tensors is measured for older ones, too."""
    return _OLDER if ".".join(map(str, version[:2])) in MEASURED else _UNKNOWN


def _devices(answer: dict[str, object]) -> str:
    platform = f"CUDA {answer['cuda']}" if answer["cuda"] else f"ROCm {answer['hip']}" if answer["hip"] else ""
    if not platform:
        return ", built for the CPU"
    return f", built for {platform} ({answer['devices']} devices): kernels on a device are cuda-gdb's business"


@machine_checks.add(AREA, "torch-symbols")
def symbols(machine: Machine) -> Iterator[Diagnosis]:
    """Whether torch's frames can be named."""
    folder = machine.torch_libraries
    if folder is None:
        yield AREA.inapplicable("torch-symbols", "There is no torch whose symbols could be looked at.")
        return
    library = folder / "libtorch_cpu.so"
    try:
        elf = open_elf(str(library))
    except ElfError as error:
        yield AREA.failed("torch-symbols", error)
        return
    source = " and its lines from its own debug information" if elf.with_section(".debug_info") else ""
    if ".symtab" in elf.sections:
        yield AREA.ok("torch-symbols", f"Its frames are named from the symbol table of {library.name}{source}.")
    else:
        seen = f"{library} is stripped: of its frames only the exported functions have names."
        yield AREA.warning("torch-symbols", seen, "Stacks stay whole without; a torch from PyPI has its symbols.")


@machine_checks.add(AREA, "torch-abi")
def abi(machine: Machine) -> Iterator[Diagnosis]:
    """The C++ ABI that extensions must be built with."""
    new = int(answered(lambda: machine.torch)["cxx11_abi"])
    yield AREA.ok("torch-abi", f"It was built with _GLIBCXX_USE_CXX11_ABI={new}; extensions need the same.")


@machine_checks.add(AREA, "harness-extension")
def own_extension(machine: Machine) -> Iterator[Diagnosis]:
    """Whether our engine loads beside it, or can be built for it."""
    answer = answered(lambda: machine.torch)
    if answer["harness_error"]:
        error = HarnessError(answer["harness_error"], answer["harness_remedy"] or "Install pyharness there.")
        yield AREA.failed("harness-extension", error)
    elif answer["harness"]:
        yield AREA.ok("harness-extension", f"pyharness's engine loads: {answer['harness']}.")
    else:
        yield _unloaded(need.asked(machine.wanted.python))


def _unloaded(facts: Facts | None) -> Diagnosis:
    """Whether the engine is there for a program that brings it along, or can be built when it is needed."""
    try:
        if facts and (file := need.beside(facts) or shelf.find(facts)):
            return AREA.ok("harness-extension", f"pyharness's engine for it is built: {file}.")
        facts and compiler(facts)
    except HarnessError as error:
        return AREA.warning("harness-extension", error.message, error.remedy)
    seen = "pyharness's engine is not built yet for this torch: what needs it builds it, or `pyharness engine build`."
    return AREA.ok("harness-extension", seen)
