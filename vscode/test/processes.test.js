// The list of running Python programs: what a command line runs, which are shown, and real ones.
'use strict';
const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const test = require('node:test');
const { list, pick, program } = require('../lib/processes');
const { fake } = require('./fake');

const machine = (t, processes) => {
  const proc = fs.mkdtempSync(path.join(os.tmpdir(), 'pyharness-proc-'));
  t.after(() => fs.rmSync(proc, { recursive: true }));
  for (const [pid, started, ...words] of processes) {
    fs.mkdirSync(path.join(proc, String(pid)));
    fs.writeFileSync(path.join(proc, String(pid), 'cmdline'), words.map(word => `${word}\0`).join(''));
    fs.writeFileSync(path.join(proc, String(pid), 'stat'), `${pid} (pt) S (x) ${'S '.repeat(1)}${'0 '.repeat(18)}${started} 0`);
  }
  fs.mkdirSync(path.join(proc, 'self'));
  return proc;
};

const runs = [
  ['python train.py --epochs 1', 'train.py'], ['python -m pytest -x', 'pytest'], ['python -X dev -u train.py', 'train.py'],
  ['python -c pass', '-c'], ['python', '(interactive)'], ['python -X frozen_modules=off -m pyharness.debuggee --channel 5 train.py -x', 'train.py'],
  ['python -m pyharness.debuggee --channel 5 -m pytest', 'pytest'],
  ['python -X frozen_modules=off /x/pyharness/debuggee/start.py debug --channel 5 --debugpy 6 train.py -x', 'train.py'],
  ['python /x/pyharness/debuggee/start.py run train-1 train.py --out 3', 'train.py'],
];
for (const [line, name] of runs) test(`"${line}" runs ${name}`, () => assert.equal(program(line.split(' ')), name));

test('programs are shown, the newest first; debuggers, servers and others are not', t => {
  const proc = machine(t, [
    [1, 5, '/sbin/init'], [20, 50, '/usr/bin/python3', 'old.py'], [30, 70, 'python', 'new.py'], [31, 80, 'python', '-m', 'pyharness', 'dap'],
    [32, 81, 'python', '/x/debugpy/adapter'], [33, 82, 'python-config'], [34, 83],
  ]);
  assert.deepEqual(list(proc).map(({ pid, name }) => [pid, name]), [[30, 'new.py'], [20, 'old.py']]);
});

test('a running Python is found and can be picked', async t => {
  const child = spawn('python3', ['-c', 'print(flush=True); input()'], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill());
  await new Promise(resolve => child.stdout.once('data', resolve));
  const vscode = fake();
  vscode.window.showQuickPick = async items => items.find(each => each.description === String(child.pid));
  assert.equal(await pick(vscode), String(child.pid));
});
