// The lab itself: the workbench comes up, keys reach it, a program under the debugpy stand-in stops and ends.
const assert = require('node:assert/strict'), fs = require('fs'), os = require('os'), path = require('path');
const lab = require('./lab/lab');

const workspace = fs.mkdtempSync(path.join(os.tmpdir(), 'workspace-'));
fs.writeFileSync(path.join(workspace, 'count.py'), 'def count(n):\n    return n + 1\n\n\nprint(count(41))\n');
fs.mkdirSync(path.join(workspace, '.vscode'));
fs.writeFileSync(path.join(workspace, '.vscode/launch.json'), JSON.stringify({
  version: '0.2.0',
  configurations: [{ name: 'Count', type: 'debugpy', request: 'launch', program: '${workspaceFolder}/count.py', console: 'internalConsole' }],
}));
process.on('exit', () => fs.rmSync(workspace, { recursive: true, force: true }));

lab.test('a Python program stops at a line and ends', { workspace }, async bench => {
  await bench.breakpoint('count.py:2');
  await bench.startConfiguration('Count');
  const stop = await bench.drive((vscode, lab) => lab.stop('Count'));
  assert.deepEqual([stop.body.reason, stop.frames[0].name, stop.frames[0].line], ['breakpoint', 'count', 2]);
  await bench.seeCallStack(/count .*count\.py/);
  await bench.press('F5');
  await bench.drive((vscode, lab) => lab.idle());
  assert.match(bench.dap().map(entry => entry.message.body?.output).join(''), /42/);
});
