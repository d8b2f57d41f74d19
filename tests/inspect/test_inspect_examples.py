"""Each usual recipe has an example, which runs and shows what its page says."""

import runpy

import pytest

from kit.paths import EXAMPLES as ALL

EXAMPLES = ALL / "inspect"
SHOWN = {
    "hierarchical_activations": [
        "├─ encoder",
        "shared with head.2",
        "overwritten in place later",
        "statistics only: encoder.layers.1.linear2",
        "['norm', 'head.2']",
        "(in (root) → encoder → encoder.layers.0",
    ],
    "manual_vjp": [
        "one row of J:",
        "between modules: (5, 8)",
        "v has the shape (2, 5), but outputs has (5, 2)",
        "v.to(torch.float32)",
        "inputs[1] is not reached",
        "outputs is int64",
    ],
    "jacobian_frobenius": [
        "‖J‖²_F = 2.36",
        "which is not it",
        "the interval holds the exact number: True",
        "module 4 by what goes into it",
    ],
}


def test_every_example_is_run():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(SHOWN)


@pytest.mark.parametrize("name", SHOWN)
def test_an_example_shows_what_its_page_says(name, capsys):
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert [part for part in SHOWN[name] if part not in printed] == []


def test_the_penalty_of_the_jacobian_example_falls(capsys):
    runpy.run_path(str(EXAMPLES / "jacobian_frobenius.py"), run_name="__main__")
    steps = [float(line.split()[2]) for line in capsys.readouterr().out.splitlines() if line.startswith("step ")]
    assert steps == sorted(steps, reverse=True)
