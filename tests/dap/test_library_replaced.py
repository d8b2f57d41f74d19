"""A library that is built anew while the session stands in it: the client is told whose lines it sees."""

import subprocess

from debugging import Debugging

PROGRAM = """\
import ctypes, os
path = {path!r}
scale = ctypes.CDLL(path).scale
scale(1)
os.replace(path + ".new", path)
scale(2)
"""


def built(path, source):
    path.with_suffix(".c").write_text(source)
    subprocess.run(["cc", "-g", "-O0", "-fPIC", "-shared", "-o", path, path.with_suffix(".c")], check=True)
    return str(path)


def test_it_is_said_once(dap, tmp_path):
    path = built(tmp_path / "scales.so", "int scale(int x) {\n  x += 1;\n  return x;\n}\n")
    built(tmp_path / "scales.so.new", "int more;\n\n\nint scale(int x) { return x; }\n")
    (tmp_path / "main.py").write_text(PROGRAM.format(path=path))
    program = Debugging(dap.stdio(), str(tmp_path / "main.py")).launch(functions=["native:scale"])
    first = program.stood()
    second = program.run_on(first)
    third = program.over(second)
    assert [stood.line for stood in (first, second, third)] == [2, 2, 3]
    assert program.run_out(third) == 0
    said = f"{path} was replaced since the program loaded it: these are the lines that it had\n"
    assert program.output("console").count(said) == 1
    program.leave()
