# A core file: the merged stack and the data of a program that is long gone.
#
#   gdb -batch -x scripts/core.gdb                                (makes a core of scripts/crash.py first)
#   PYHARNESS_CORE=core.123 gdb -batch -x scripts/core.gdb --args python
set pagination off
set confirm off
source pyharness/ingdb/load.py
ph-program scripts/crash.py

python
import atexit, os, tempfile
if "PYHARNESS_CORE" not in os.environ:
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    os.environ["PYHARNESS_CORE"] = f"{folder.name}/core"
    gdb.execute("ph-run")
    gdb.execute(f"generate-core-file {os.environ['PYHARNESS_CORE']}")
    gdb.execute("kill")
end

ph-core ${PYHARNESS_CORE:-}

echo \n--- one stack for both languages ---\n
ph-bt

echo \n--- the data ---\n
info args
info locals
