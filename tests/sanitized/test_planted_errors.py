"""``pyharness run --asan|--ubsan|--tsan``: each planted error with its line, its tensor, and the stacks of before.

The library is one of C functions, which the program calls by ctypes: any extension, built as its user would.
"""

import json
import re
import subprocess
from pathlib import Path

import pytest

from kit.builds import library
from kit.command import PYHARNESS, Command, environment_of
from kit.interpreters import interpreters
from kit.paths import PROGRAMS
from kit.rotation import always

BLOCKS = PROGRAMS / "blocks.cpp"
SOURCE, SCRIPT = PROGRAMS / "planted_errors.cpp", PROGRAMS / "planted_errors.py"
KINDS = {"asan": "address", "ubsan": "undefined", "tsan": "thread"}
RUNS_ON = ("ubsan", "tsan")
ERRORS = {
    "read_behind": (
        "asan",
        (
            "heap-buffer-overflow: reads 4 bytes right behind the storage of layer.weight float32 [4, 16],"
            " made at planted_errors.py:{weight} by aten::ones"
        ),
        "one too far",
    ),
    "read_gradient": (
        "asan",
        (
            "heap-buffer-overflow: reads 4 bytes right behind the storage of layer.weight.grad float32 [4, 16],"
            " made at planted_errors.py:{gradient} by aten::new_empty_strided"
        ),
        "one too far",
    ),
    "read_state": (
        "asan",
        (
            "heap-buffer-overflow: reads 4 bytes right behind the storage of optimizer.state[...]['exp_avg']"
            " float32 [4, 16], made at planted_errors.py:{state} by aten::zeros_like"
        ),
        "one too far",
    ),
    "write_before": (
        "asan",
        (
            "heap-buffer-overflow: writes 8 bytes 16 bytes before the storage of layer.table float64 [3],"
            " made at planted_errors.py:{table} by aten::zeros"
        ),
        "values[-2]",
    ),
    "use_kept": (
        "asan",
        (
            "heap-use-after-free: reads 4 bytes 12 bytes into a tensor's storage of 28 bytes,"
            " made at planted_errors.py:{kept} by aten::full and freed at planted_errors.py:{kept}"
        ),
        "the tensor has gone",
    ),
    "free_twice": (
        "asan",
        (
            "double-free: at the start of a tensor's storage of 36 bytes,"
            " made at planted_errors.py:{twice} by aten::zeros and freed at planted_errors.cpp:{free}"
        ),
        "its tensor will",
    ),
    "past_an_array": (
        "asan",
        "stack-buffer-overflow: reads 4 bytes 4 bytes behind the local variable counts",
        "return all[index]",
    ),
    "past_the_largest": (
        "ubsan",
        "Signed integer overflow: 2147483647 + 1 cannot be represented in type 'int' (signed-integer-overflow)",
        "value + 1",
    ),
    "misaligned": (
        "ubsan",
        (
            "Load of misaligned address 0x... for type 'const int', which requires 4 byte alignment"
            " (misaligned-pointer-use) 1 byte into the storage of layer.weight float32 [4, 16]"
        ),
        "const int*>(bytes",
    ),
    "race": (
        "tsan",
        (
            "data-race: {} 4 bytes 8 bytes into the storage of layer.weight float32 [4, 16],"
            " made at planted_errors.py:{weight} by aten::ones"
        ),
        "values[2] +=",
    ),
}
MARKS = {
    "weight": "torch.ones",
    "table": "torch.zeros(3",
    "kept": "torch.full",
    "twice": "torch.zeros(9",
    "gradient": ".backward()",
    "state": ".step()",
}
HISTORIES = {
    "use_kept": ["The memory was allocated here", "It was freed here"],
    "race": ["The other access, which writes", "The memory was allocated here", *["The thread was started here"] * 2],
}


def built(name):
    return library(SOURCE, "-O1", "-fno-omit-frame-pointer", f"-fsanitize={KINDS[name]}")


def line_with(file, text):
    return next(number for number, line in enumerate(file.read_text().splitlines(), 1) if text in line)


def expected(text):
    lines = {name: line_with(SCRIPT, mark) for name, mark in MARKS.items()}
    escaped = re.escape(text.format("{}", **lines, free=line_with(SOURCE, "free(values)")))
    return escaped.replace(r"\{\}", "(reads|writes)").replace(re.escape("0x..."), "0x[0-9a-f]+")


@pytest.fixture
def run(tmp_path):
    command = Command(environment_of(tmp_path / "state"), tmp_path)

    def finish(name, *words):
        (tmp_path / "native.so").write_bytes(built(name).read_bytes())
        (tmp_path / SCRIPT.name).write_text(SCRIPT.read_text())
        (tmp_path / SOURCE.name).write_text(SOURCE.read_text())
        return command("run", f"--{name}", "--report", "out", SCRIPT.name, "./native.so", *words)

    return finish


@pytest.mark.rotated(turns=12)
@pytest.mark.parametrize("error", ERRORS)
def test_an_error_is_told_with_its_line_and_its_tensor(run, tmp_path, error):
    name, sentence, mark = ERRORS[error]
    done = run(name, error)
    (file,) = (tmp_path / "out").glob("*.json")
    report = json.loads(file.read_text())
    assert re.fullmatch(f"[A-Z]\\w+Sanitizer: {expected(sentence)}", report["what"]), report["what"]
    frame = report["frame"]
    assert Path(frame["file"]).name == SOURCE.name
    line = frame["line"]
    assert mark in SOURCE.read_text().splitlines()[line - 1]
    assert report["what"] in done.stderr
    assert "==" not in done.stderr, "what the runtime itself prints is in the report"
    assert f"{SOURCE.name}:{line}" in done.stderr
    assert (done.stdout == "began\nwent on\n") == (name in RUNS_ON), done.stderr
    assert done.returncode == {"asan": 1, "ubsan": 0, "tsan": 66}[name]
    page = file.with_suffix(".html").read_text()
    assert all(history["title"] in page for history in report["histories"])
    titles = [history["title"] for history in report["histories"]]
    assert sorted(titles) == sorted(HISTORIES.get(error, titles))
    for history in report["histories"]:
        languages = {each["language"] for each in history["stack"]}
        assert languages == {"native", "python"} or history["title"].startswith("The other"), history


@pytest.mark.rotated(turns=12)
@pytest.mark.parametrize("name", KINDS)
def test_a_training_step_has_no_errors(tmp_path, name):
    """With what trains models: an optimizer, workers of a data loader, threads of OpenMP and of the autograd engine."""
    script = tmp_path / "training.py"
    script.write_text((PROGRAMS / "sanitized_training.py").read_text())
    (tmp_path / "native.so").write_bytes(built(name).read_bytes())
    done = Command(environment_of(tmp_path / "state"), tmp_path)("run", f"--{name}", script.name)
    assert (done.returncode, done.stdout) == (0, "trained\n"), done.stderr
    handle = r"pyharness: handle \S+ \(pid \d+\)\n" if name != "tsan" else ""
    assert re.fullmatch(handle, done.stderr), done.stderr


FORKS = """import ctypes, os

native = ctypes.CDLL("./native.so")
if os.fork() == 0:
    native.race((ctypes.c_float * 4)())
    os._exit(3)
print("the child ended with", os.waitstatus_to_exitcode(os.wait()[1]))
"""


@pytest.mark.rotated(turns=6)
def test_a_race_in_a_child_is_told(tmp_path):
    """The runtime looks at nothing there where the parent has a thread, as ours would be."""
    (tmp_path / "forks.py").write_text(FORKS)
    (tmp_path / "native.so").write_bytes(built("tsan").read_bytes())
    done = Command(environment_of(tmp_path / "state"), tmp_path)("run", "--tsan", "forks.py")
    assert "ThreadSanitizer: data-race" in done.stderr
    assert "pyharness::" not in done.stderr
    assert (done.returncode, done.stdout) == (0, "the child ended with 3\n"), done.stderr


TESTS_OF_A_USER = """
import ctypes
import torch

native = ctypes.CDLL("./native.so")

def test_before():
    pass

def test_error():
    weight = torch.ones(4, 16)
    native.{}(ctypes.c_void_p(weight.data_ptr()), ctypes.c_int64(64))

def test_behind():
    pass
"""


@pytest.mark.rotated(turns=9)
@pytest.mark.parametrize(("name", "error"), [("asan", "read_behind"), ("ubsan", "misaligned"), ("tsan", "race")])
def test_an_error_is_a_failed_test(tmp_path, name, error):
    (tmp_path / "native.so").write_bytes(built(name).read_bytes())
    (tmp_path / "test_native.py").write_text(TESTS_OF_A_USER.format(error))
    environment = environment_of(tmp_path / "state")
    command = [PYHARNESS[0], "-m", "pytest", "-p", "no:cacheprovider", "--pyharness-sanitizer", name, "test_native.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 2 passed" in done.stdout
    assert "FAILED test_native.py::test_error - failed: " in done.stdout
    assert re.search(r"the storage of weight float32 \[4, 16\]", done.stdout), done.stdout


@pytest.mark.rotated(turns=3)
@pytest.mark.parametrize("name", ["leaves", "raises"])
def test_an_error_hides_behind_no_skip_and_no_expected_failure(tmp_path, name):
    (tmp_path / "native.so").write_bytes(built("ubsan").read_bytes())
    (tmp_path / "test_native.py").write_text((PROGRAMS / "suite_of_hidden_errors.py").read_text())
    command = [PYHARNESS[0], "-m", "pytest", "-p", "no:cacheprovider", "--pyharness-sanitizer", "ubsan", "-k", name]
    environment = environment_of(tmp_path / "state")
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "signed-integer-overflow" in done.stdout
    assert "1 failed, 1 deselected" in done.stdout


SPAWNS = """import ctypes, multiprocessing, sys

def child():
    native = ctypes.CDLL("./native.so")
    native.made.restype = ctypes.c_void_p
    native.added(ctypes.c_void_p(native.made(5)), 5)

if __name__ == "__main__":
    process = multiprocessing.get_context(sys.argv[1]).Process(target=child)
    process.start()
    process.join()
    print("it ended with", process.exitcode)
"""


@pytest.mark.rotated(turns=6)
@pytest.mark.parametrize("way", ["spawn", "forkserver", "fork"])
def test_an_error_in_a_child_is_a_report(tmp_path, way):
    (tmp_path / "spawns.py").write_text(SPAWNS)
    (tmp_path / "native.so").write_bytes(library(BLOCKS, "-O0", "-fsanitize=address").read_bytes())
    done = Command(environment_of(tmp_path / "state"), tmp_path)("run", "--asan", "--report", "out", "spawns.py", way)
    assert "it ended with 1" in done.stdout, done.stderr
    (file,) = (tmp_path / "out").glob("sanitizer-*.json")
    assert "heap-buffer-overflow" in json.loads(file.read_text())["what"]


LEAVES_NO_TENSOR = """import ctypes

native = ctypes.CDLL("./native.so")
native.made.restype = ctypes.c_void_p


def make(size):
    return native.made(size)  # @make


def main():
    block = make(5)
    native.added(ctypes.c_void_p(block), 5)


main()
"""


@pytest.mark.rotated(turns=9)
@pytest.mark.parametrize("version", interpreters())
def test_a_block_was_made_by_a_function_of_any_python(tmp_path, version):
    script = tmp_path / "plain.py"
    script.write_text(LEAVES_NO_TENSOR)
    (tmp_path / "native.so").write_bytes(library(BLOCKS, "-O0", "-fsanitize=address").read_bytes())
    command = Command(environment_of(tmp_path / "state"), tmp_path)
    done = command("run", "--python", interpreters()[version], "--asan", "--report", "out", script.name)
    assert done.returncode == 1, done.stderr
    report = json.loads(next((tmp_path / "out").glob("*.json")).read_text())
    assert report["what"].startswith(
        "AddressSanitizer: heap-buffer-overflow: reads 4 bytes right behind a block of 20 bytes"
    )
    (history,) = report["histories"]
    python = [(frame["function"], frame["line"]) for frame in history["stack"] if frame["language"] == "python"]
    assert python[:3] == [("make", 8), ("main", 12), ("<module>", 16)]


@always
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--asan", "--tsan", "a.py"], "--asan and --tsan: a program runs under one sanitizer."),
        (["--asan", "--nan", "a.py"], "--nan and --asan both report the program's end."),
        (["--runtime", "x.so", "a.py"], "--runtime is for a sanitizer, and none is named."),
        (["--asan", "--runtime", "x.so", "a.py"], "There is no file x.so."),
        (["--asan", "--runtime", "ends.so", "a.py"], "ends.so this Python ends before its first line, with 7."),
        (["--asan", "--runtime", "other.so", "a.py"], "other.so is no runtime of -fsanitize=address."),
        (["--tsan", "a.py"], "No extension of this program was built with -fsanitize=thread"),
    ],
)
def test_what_cannot_be(tmp_path, words, message):
    (tmp_path / "a.py").write_text("print('ran')\n")
    (tmp_path / "native.so").write_bytes(built("asan").read_bytes())
    for name, source in (("ends", "ends_at_once"), ("other", "scaled")):
        (tmp_path / f"{name}.so").write_bytes(library(PROGRAMS / f"{source}.cpp").read_bytes())
    done = Command(environment_of(tmp_path / "state"), tmp_path)("run", *words)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert not done.stdout
    assert "Traceback" not in done.stderr


def test_a_runtime_that_does_not_begin_names_the_users_own_options(tmp_path):
    (tmp_path / "a.py").write_text("print('ran')\n")
    (tmp_path / "native.so").write_bytes(built("tsan").read_bytes())
    environment = {**environment_of(tmp_path / "state"), "TSAN_OPTIONS": "suppressions=/nonexistent"}
    done = Command(environment, tmp_path)("run", "--tsan", "a.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Is it for your own TSAN_OPTIONS=suppressions=/nonexistent? Unset it." in done.stderr


@pytest.mark.rotated_tests(turns=9, number=3)
def test_a_library_that_is_linked_for_a_sanitizer_and_not_compiled_for_it(tmp_path):
    (tmp_path / "native.c").write_text("int f(int a) { return a + 1; }\n")
    for words in (["-c", "-fPIC", "native.c"], ["-shared", "-fsanitize=address", "native.o", "-o", "native.so"]):
        subprocess.run(["gcc", *words], cwd=tmp_path, check=True)
    (tmp_path / "a.py").write_text("import ctypes\nprint(ctypes.CDLL('./native.so').f(1))\n")
    done = Command(environment_of(tmp_path / "state"), tmp_path)("run", "--asan", "a.py")
    assert (done.returncode, done.stdout) == (0, "2\n")
    assert "no library of this program was built with -fsanitize=address: nothing was checked." in done.stderr


def test_an_error_of_an_import_is_an_error_of_the_file(tmp_path):
    (tmp_path / "native.so").write_bytes(built("ubsan").read_bytes())
    imports = "import ctypes\nctypes.CDLL('./native.so').past_the_largest(2**31 - 1)\n\ndef test_a(): pass\n"
    (tmp_path / "test_native.py").write_text(imports)
    environment = environment_of(tmp_path / "state")
    command = [
        PYHARNESS[0],
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "--pyharness-sanitizer",
        "ubsan",
        "test_native.py",
    ]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode
    assert "ERROR test_native.py - failed: UndefinedBehaviorSanitizer" in done.stdout
    assert "Signed integer overflow: 2147483647 + 1" in done.stdout


@pytest.mark.rotated_tests(turns=9, number=4)
def test_a_program_that_calls_pytest_is_not_begun_again(tmp_path):
    (tmp_path / "native.so").write_bytes(built("asan").read_bytes())
    (tmp_path / "calls.py").write_text(
        "import pytest, sys\nprint('begun')\nsys.exit(pytest.main(['--pyharness-sanitizer', 'asan']))\n"
    )
    environment = environment_of(tmp_path / "state")
    command = [PYHARNESS[0], "calls.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert done.stdout == "begun\n"
    assert "A program has called pytest, and all that it did so far would be done twice." in done.stderr


@pytest.mark.rotated_tests(turns=9, number=5)
def test_a_runtime_in_a_folder_with_a_space(tmp_path):
    """The loader takes a space for the end of a name."""
    (tmp_path / "my runtimes").mkdir()
    found = subprocess.check_output(["c++", "-print-file-name=libasan.so"], text=True).strip()
    copy = tmp_path / "my runtimes" / "copy.so"
    copy.write_bytes(Path(found).read_bytes())
    (tmp_path / "native.so").write_bytes(library(BLOCKS, "-O0", "-fsanitize=address").read_bytes())
    (tmp_path / "plain.py").write_text(LEAVES_NO_TENSOR)
    done = Command(environment_of(tmp_path / "state"), tmp_path)("run", "--asan", "--runtime", copy, "plain.py")
    assert done.returncode == 1
    assert "reads 4 bytes right behind a block of 20 bytes" in done.stderr, done.stderr
