# Attach to a running program, see where it is, stop it at a native function and at a Python line, let it run on.
#
#   gdb -batch -x scripts/attach.gdb                              (starts scripts/attach.py to attach to)
#   PYHARNESS_PROCESS=train.py PYHARNESS_AT=native:my_op gdb -batch -x scripts/attach.gdb
set pagination off
set confirm off
source pyharness/ingdb/load.py

python
import atexit, os, subprocess
from pyharness.ingdb.commands import scripting
if "PYHARNESS_PROCESS" not in os.environ:
    command = [scripting.interpreter(), "-m", "pyharness.debuggee", "scripts/attach.py"]
    example = subprocess.Popen(command, stdout=subprocess.PIPE)
    atexit.register(example.kill)
    example.stdout.readline()  # it says when it is at work
    os.environ["PYHARNESS_PROCESS"] = str(example.pid)
end

ph-attach ${PYHARNESS_PROCESS:-}

echo \n--- stop at a native function ---\n
ph-break ${PYHARNESS_AT:-native:rms_norm_cpu}
continue
ph-bt

echo \n--- out, to the Python line that comes next ---\n
ph-out python
detach
