# Inside loss.backward(): the C++ backward of an op, and the stack from there through autograd to the Python line.
#
#   gdb -batch -x scripts/backward.gdb
#   PYHARNESS_AT=native:my_op_backward gdb -batch -x scripts/backward.gdb --args python train.py
set pagination off
set confirm off
source pyharness/ingdb/load.py
ph-program examples/transformer.py --steps 1

ph-break ${PYHARNESS_AT:-native:rms_norm_backward_cpu}
ph-run

echo \n--- one stack: the kernel, its autograd node, the Python line ---\n
ph-bt

echo \n--- the gradient that comes in ---\n
ph-tensor grad --stats --max 4
kill
