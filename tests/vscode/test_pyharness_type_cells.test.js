// Code that is in no file, such as a notebook's cell, in the real workbench: its text opens, and takes a breakpoint.
'use strict';
const { execFileSync } = require('node:child_process');
const path = require('node:path');
const { LABEL, PYTHON, repository, test, userFolder } = require('./test_pyharness_type_hands');

const CELL = '/nowhere/ipykernel_77/12.py';
const extension = execFileSync(PYTHON, ['-c', 'from kit import builds; print(builds.crossing())'], {
  cwd: path.join(repository, 'tests'), encoding: 'utf8',
}).trim();
const notebook = userFolder('tests/programs/notebook_cells.py', [
  { name: LABEL, program: '${workspaceFolder}/notebook_cells.py', args: ['stop', CELL], env: { PYTHONPATH: extension } },
]);

test('the cell that called C++', { workspace: notebook }, async bench => {
  await bench.quickOpen('notebook_cells.py');
  await bench.drive(vscode => vscode.debug.addBreakpoints([new vscode.FunctionBreakpoint('crossing::held')]));
  await bench.press('F5');
  await bench.seeCallStack(/held .*cell .*12\.py/);
  await bench.row('.debug-call-stack', /^cell/).click();
  await bench.standsAt('12.py', 4);
  await bench.see('.editor-group-container.active .view-lines', /seen.=.crossing\.held\(number\)/);
  await bench.clickGutter(5);
  await bench.toolbar('continue');
  await bench.standsAt('12.py', 5);
  await bench.seeCallStack(/cell 12\.py 5:1(?!.* 4:1)/); // the workbench shows frames of the last stop for a moment
  await bench.variables(/seen/);
  await bench.picture('cell-of-a-notebook.png');
});
