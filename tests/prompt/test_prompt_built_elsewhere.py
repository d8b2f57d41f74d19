"""An extension that was compiled in a folder that is not here: its sources are shown from where gdb is told to look."""

from kit import builds
from kit.dialogue import blocks
from kit.marks import marks
from kit.paths import PROGRAMS

HERE = builds.CROSSING.parent
LINE = marks(builds.CROSSING)["scaled"]


def elsewhere(piped, environment, commands, **settings):
    """Run commands on a program whose extension was compiled in /build/pkg."""
    folder = builds.crossing("crossing", builds.CROSSING, f"-ffile-prefix-map={HERE}=/build/pkg")
    path = f"{environment['PYTHONPATH']}:{folder}"
    environment = {**environment, "PYTHONPATH": path, **settings}
    return piped(commands, program=PROGRAMS / "core_crossing.py", env=environment)


def test_without_its_sources_the_remedy_is_named(piped, environment):
    done = elsewhere(piped, environment, ["b scaled", "c", "list"])
    assert "/build/pkg/extension.cpp, of which crossing" in done.stderr
    assert "`set substitute-path /build/pkg FOLDER` in a file that $PYHARNESS_GDB_SCRIPTS names" in done.stderr


def test_with_a_script_of_gdb_they_are_shown(piped, environment, tmp_path):
    script = tmp_path / "sources.gdb"
    script.write_text(f"set substitute-path /build/pkg {HERE}\n")
    commands = [f"b native:{builds.CROSSING}:{LINE}", "c", "list", "bt"]
    done = elsewhere(piped, environment, commands, PYHARNESS_GDB_SCRIPTS=str(script))
    shown = blocks(done.stdout)
    assert f"→ {LINE} │" in shown["c"], done.stderr
    assert f"→ {LINE} │" in shown["list"]
    assert f"extension.cpp:{LINE}" in shown["bt"]
    assert "/build/pkg" not in done.stdout
