# A program that dies in native code: where, in both languages, and on which data.
#
#   gdb -batch -x scripts/crash.gdb
#   gdb -batch -x scripts/crash.gdb --args python train.py
set pagination off
set confirm off
source pyharness/ingdb/load.py
ph-program scripts/crash.py
ph-run

echo \n--- one stack for both languages ---\n
ph-bt

echo \n--- the data ---\n
info args
info locals
kill
