// torch.compile's default backend in the real workbench: a stop at a node, and into the kernel that it became.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { LABEL, test, userFolder } = require('./test_pyharness_type_hands');

const NODE = 'fx:erf';
const compiled = userFolder('tests/programs/compiled_loop.py', [
  { name: LABEL, program: '${workspaceFolder}/compiled_loop.py', debugKernels: true },
]);
const cache = fs.mkdtempSync(path.join(compiled, '../cache-'));

test('into a kernel of inductor’s', { workspace: compiled, env: { TORCHINDUCTOR_CACHE_DIR: cache } }, async bench => {
  await bench.quickOpen('compiled_loop.py');
  await bench.drive((vscode, _lab, node) => vscode.debug.addBreakpoints([new vscode.FunctionBreakpoint(node)]), NODE);
  await bench.press('F5');
  await bench.seeCallStack(/call .*main compiled_loop\.py/);
  await bench.widenSideBar(200);
  await bench.collapse('Watch');
  await bench.collapse('Breakpoints');
  await bench.heightenVariables(480);
  await bench.toolbar('step-into');
  await bench.seeCallStack(/cpp_fused_\w+ \[fx /);
  const kernel = await bench.standsAt('.main.cpp');
  assert.ok(fs.readFileSync(kernel, 'utf8').includes('extern "C"'));
  await bench.expand(/^Nodes/);
  await bench.expand(/^Buffers/);
  await bench.variables(/in_ptr0/);
  await bench.picture('kernel-of-inductor.png');
});
