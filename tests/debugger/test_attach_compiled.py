"""Places in what torch.compile has made before somebody attaches."""

import pytest

import pyharness
from kit import inductor


@pytest.mark.rotated_tests(turns=6)
def test_who_attaches_finds_what_was_compiled_before(running, tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", inductor.cache(tmp_path / "torch"))
    program = running("compiled_before.py", handle="compiled")
    with pyharness.attach("compiled") as attached:
        attached.set_breakpoint("fx:gelu")
        program.say("again\n")  # the program runs: it would be through before the place is there
        stop = attached.resume()
        assert stop.frame.fx is not None
    program.until("ran")
    assert program.end()[0] == 0
