# From a line of the forward that torch.fx generated into the C++ kernel that it runs, and out to the next such line.
#
#   gdb -batch -x scripts/step_into_kernel.gdb
#   PYHARNESS_AT=fx:mlp PYHARNESS_INTO=native gdb -batch -x scripts/step_into_kernel.gdb --args python train.py
set pagination off
set confirm off
source pyharness/ingdb/load.py
ph-program examples/transformer.py --steps 1

ph-break ${PYHARNESS_AT:-fx:blocks.0.norm}
ph-run

echo \n--- into the kernel ---\n
ph-into ${PYHARNESS_INTO:-rms_norm_cpu}

echo \n--- one stack for both languages ---\n
ph-bt

echo \n--- out, to the next generated line ---\n
ph-out python
kill
