// Programs that the workbench does not simply run: attached to by a list and by a handle, in a terminal, with children.
'use strict';
const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { PYTHON, artifact, lineOf, test, userFolder } = require('./test_pyharness_type_hands');

const FOREVER = 'tests/programs/plain_forever.py';
const ready = child => new Promise((resolve, reject) => {
  child.stdout.on('data', data => String(data).includes('ready') && resolve());
  child.on('exit', code => reject(new Error(`it ended with ${code}`)));
});

/** Run `body` while `words` run, which have said "ready". */
async function whileRunning(words, body) {
  const child = spawn(PYTHON, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise(resolve => child.on('exit', resolve));
  try {
    await ready(child);
    await body(child);
  } finally {
    child.kill();
    await ended;
  }
}

/** Attached and stopped in work(); then let go, and the program runs on. */
async function stopsAndGoesOn(bench, child) {
  await bench.seeCallStack(/work plain_forever\.py/);
  await bench.drive(vscode => vscode.debug.removeBreakpoints(vscode.debug.breakpoints));
  await bench.toolbar('disconnect');
  await bench.drive((vscode, lab) => lab.idle());
  assert.deepEqual([child.exitCode, child.signalCode], [null, null]);
  assert.match(fs.readFileSync(`/proc/${child.pid}/status`, 'utf8'), /TracerPid:\t0\n/);
}

const picked = userFolder(FOREVER, [{ name: 'choose', request: 'attach', processId: '${command:pickProcess}' }]);
test('a process is chosen from the list', { workspace: picked }, async bench => {
  const script = path.join(picked, 'plain_forever.py');
  await whileRunning([script], async child => {
    await bench.breakpoint(`plain_forever.py:${lineOf(script, '# @work')}`);
    await bench.page.keyboard.press('Control+P');
    await bench.page.locator('.quick-input-widget input[type=text]').waitFor();
    await bench.page.keyboard.type('debug choose');
    await bench.see('.quick-input-list .monaco-list-row.focused', /choose/);
    await bench.press('Enter');
    await bench.see('.quick-input-title', /Attach to a Python program/);
    await bench.page.keyboard.type(String(child.pid));
    await bench.see('.quick-input-list .monaco-list-row.focused', /plain_forever\.py/);
    await bench.press('Enter');
    await stopsAndGoesOn(bench, child);
  });
});

const handled = userFolder(FOREVER, [{ name: 'by handle', request: 'attach', handle: 'workbench-test' }]);
test('a program is found by its handle, without a dialog', { workspace: handled }, async bench => {
  const script = path.join(handled, 'plain_forever.py');
  await whileRunning(['-m', 'pyharness', 'run', '--name', 'workbench-test', script], async child => {
    await bench.breakpoint(`plain_forever.py:${lineOf(script, '# @work')}`);
    await bench.startConfiguration('by handle');
    await stopsAndGoesOn(bench, child);
  });
});

const LOOP = { name: 'in terminal', program: '${workspaceFolder}/attach_loop.py', args: ['forks', 'spawn'], console: 'integratedTerminal', subProcess: 'debug' };
const terminal = userFolder('tests/programs/attach_loop.py', [LOOP]);
const READABLE = { 'terminal.integrated.gpuAcceleration': 'off' }; // text, not a canvas
test('a program reads what is typed in the terminal, and its child is a session below it', { workspace: terminal, settings: READABLE }, async bench => {
  await bench.breakpoint(`attach_loop.py:${lineOf(path.join(terminal, 'attach_loop.py'), '# @work')}`);
  await bench.startConfiguration('in terminal');
  await bench.see('.xterm-rows', /\bbegin\b/);
  await bench.command('Terminal: Focus on Terminal View');
  await bench.page.locator('.xterm.focus').waitFor();
  await bench.page.keyboard.type('7\n');
  const stop = await bench.drive((vscode, lab) => lab.stop('spawn'));
  assert.equal(stop.frames[0].name, 'work');
  await bench.seeCallStack(/spawn \(\d+\).*work attach_loop\.py/);
  await bench.seeCallStack(/in terminal/);
  await bench.shot(artifact('child-session.png'));
  await bench.toolbar('continue');
  await bench.see('.xterm-rows', /\bchild 0\b/);
  await bench.page.locator('.xterm').click();
  await bench.press('Control+D');
  await bench.see('.xterm-rows', /\bleft\b/);
  await bench.drive((vscode, lab) => lab.idle());
});
