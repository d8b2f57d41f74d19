"""Runs inside gdb: reads every tensor of tests/programs/tensor_zoo.py and every variable of its kernel, as JSON."""

import json
import os
import time
from pathlib import Path

import gdb

from pyharness.ingdb import torch_process
from pyharness.ingdb.autograd import running as autograd_node
from pyharness.ingdb.functions import native_names
from pyharness.ingdb.printers import values as tensor_values
from pyharness.ingdb.tensors import format as tensor_format
from pyharness.ingdb.tensors import function as tensor_function
from pyharness.ingdb.tensors.statistics import statistics
from pyharness.ingdb.variables.native import native_item
from pyharness.model.tensors.variables import statistics_variables


def information(address):
    info = tensor_values.tensor_at(address)
    found = None if info.unreadable or info.state != "defined" else statistics(torch_process.read, info, 100_000)
    return {
        **tensor_format.to_json(torch_process.read, info, found),
        "numbers": {variable.name: variable.value for variable in statistics_variables(found)} if found else None,
        "array": None if found is None or not 0 < info.numel <= 100 else nested(tensor_function.array_of(info)),
        "line": tensor_format.one_line(torch_process.read, info),
    }


def nested(value):
    """An array of gdb's as lists."""
    if value.type.code != gdb.TYPE_CODE_ARRAY:
        return float(int(value) if value.type.code == gdb.TYPE_CODE_BOOL else value)
    first, last = value.type.range()
    return [nested(value[index]) for index in range(first, last + 1)]


def frames():
    frame = gdb.newest_frame()
    while frame:
        yield frame
        frame = frame.older()


def select_kernel():
    """The frame of the kernel, whichever thread it is in."""
    for thread in gdb.selected_inferior().threads():
        thread.switch()
        for frame in frames():
            if frame.name() == "tensor_kernel::wait":
                frame.select()
                return frame
    raise LookupError("no thread is in the kernel")


def variables(frame):
    block = frame.block()
    while block:
        for symbol in block:
            if symbol.is_variable or symbol.is_argument:
                yield symbol.name, frame.read_var(symbol)
        if block.function:
            return
        block = block.superblock


def elements(value):
    content = native_item("", value).content
    return content.indexed_items(0, content.indexed)


def command(text):
    try:
        return gdb.execute(text, to_string=True)
    except gdb.error as error:
        return f"error: {error}"


def as_json(node):
    return node and {"name": node.name, "number": node.sequence_number, "address": node.address}


def nodes(thread):
    thread.switch()
    named = [(native_names.name_of(frame)[0], frame) for frame in frames()]
    running = [(name, as_json(autograd_node.node_of(frame, name))) for name, frame in named]
    current = as_json(autograd_node.current_node(thread))
    return {"current": current, "running": [(name, node) for name, node in running if node]}


def main():
    table = json.loads(Path(os.environ["ZOO_TABLE"]).read_text())
    frame = select_kernel()
    started = time.monotonic()
    found = {
        "tensors": {name: information(said["address"]) for name, said in table.items()},
        "variables": {name: tensor_values.value_text(value) for name, value in variables(frame)},
        "operands": [item.variable.value for item in elements(frame.read_var("loop"))],
        "printed": {name: command(f"print {name}") for name in ("argument", "vector", "list", "boxed_list")},
        "commands": {text: command(text) for text in json.loads(os.environ["ZOO_COMMANDS"])},
        "version": torch_process.torch_version(),
    }
    found["threads"] = [nodes(thread) for thread in gdb.selected_inferior().threads()]
    found["seconds"] = time.monotonic() - started
    Path(os.environ["ZOO_FOUND"]).write_text(json.dumps(found))


main()
