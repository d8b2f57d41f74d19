// What F5 and launch.json mean: defaults, the interpreter, what is refused and how.
'use strict';
const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const test = require('node:test');
const { Factory } = require('../lib/adapter');
const { Provider, debugFile } = require('../lib/configuration');
const { Interpreters, expanded } = require('../lib/interpreter');
const { fake, folder } = require('./fake');

const scratch = t => {
  const where = fs.mkdtempSync(path.join(os.tmpdir(), 'pyharness-vscode-'));
  t.after(() => fs.rmSync(where, { recursive: true }));
  return where;
};
const interpreter = (t, script) => {
  const file = path.join(scratch(t), 'python');
  fs.writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return file;
};
const python = { document: { languageId: 'python', uri: { fsPath: '/w/a.py' } } };
const provider = (vscode = fake(), found = {}) =>
  new Provider(vscode, { choose: async (_folder, named) => named ?? '/p', problem: async () => found.problem, explain: async each => vscode.calls.push(['explain', each]) });

test('F5 without a launch.json debugs the open Python file', () => {
  const config = provider(fake({ editor: python })).resolveDebugConfiguration(folder('/w'), {});
  assert.deepEqual(config, { name: 'Pyharness: current file', type: 'pyharness', request: 'launch', program: '${file}', cwd: '${workspaceFolder}' });
});

test('running without debugging stays so', () => {
  assert.equal(provider(fake({ editor: python })).resolveDebugConfiguration(undefined, { noDebug: true }).noDebug, true);
});

test('without a folder the program runs in that of its file', () => {
  assert.equal(provider(fake({ editor: python })).resolveDebugConfiguration(undefined, {}).cwd, '${fileDirname}');
});

test('F5 on something else says what to open, and opens launch.json', () => {
  const vscode = fake({ editor: { document: { languageId: 'cpp' } } });
  assert.equal(provider(vscode).resolveDebugConfiguration(folder('/w'), {}), null);
  assert.match(vscode.calls[0][1], /open the Python file/);
});

test('what a configuration says is kept', () => {
  const given = { type: 'pyharness', request: 'launch', name: 'x', program: 'a.py', cwd: '/elsewhere' };
  assert.deepEqual(provider().resolveDebugConfiguration(folder('/w'), { ...given }), given);
});

test('a core file is looked for in the folder', () => {
  const config = { type: 'pyharness', name: 'x', request: 'launch', coreFile: 'core' };
  assert.deepEqual(provider().resolveDebugConfiguration(folder('/w'), { ...config }), { ...config, cwd: '${workspaceFolder}' });
});

for (const given of [{ request: 'launch', coreFile: '/core' }, { request: 'attach', processId: 1 }])
  test(`${Object.keys(given)[1]} needs no folder`, () => {
    const config = { type: 'pyharness', name: 'x', ...given };
    assert.deepEqual(provider().resolveDebugConfiguration(undefined, { ...config }), config);
  });

test('the interpreter is filled in, and a picked process id is a number', async () => {
  const config = await provider().resolveDebugConfigurationWithSubstitutedVariables(folder('/w'), { request: 'attach', processId: '42' });
  assert.deepEqual(config, { request: 'attach', processId: 42, python: '/p' });
});

test('an interpreter that cannot debug is explained, and nothing starts', async () => {
  const vscode = fake(), problem = { message: 'no' };
  assert.equal(await provider(vscode, { problem }).resolveDebugConfigurationWithSubstitutedVariables(undefined, {}), undefined);
  assert.deepEqual(vscode.calls, [['explain', problem]]);
});

test('an adapter that listens already needs no interpreter here', async () => {
  const config = { debugServer: 4711 };
  assert.equal(await provider(fake(), { problem: { message: 'no' } }).resolveDebugConfigurationWithSubstitutedVariables(undefined, config), config);
});

test('a session has an adapter of its own, started where no file hides a module', () => {
  const made = new Factory(fake(), '/extension').createDebugAdapterDescriptor({ configuration: { python: '/p' } });
  assert.deepEqual(made.args, ['/p', ['-m', 'pyharness', 'dap'], { cwd: '/extension' }]);
});

test('the button starts the file it stands on', async () => {
  const vscode = fake();
  await debugFile(vscode, { fsPath: '/w/a.py' });
  assert.equal(vscode.calls[0][2].program, '/w/a.py');
});

test('an interpreter is looked for from the most to the least specific', async t => {
  const root = scratch(t);
  const choose = (options, named) => new Interpreters(fake(options), root).choose(folder(root), named);
  assert.equal(await choose({}), 'python3');
  const local = path.join(root, '.venv', 'bin', 'python');
  fs.mkdirSync(path.dirname(local), { recursive: true });
  fs.writeFileSync(local, '');
  assert.equal(await choose({ settings: { 'python.defaultInterpreterPath': 'python' } }), local);
  const settings = { 'python.defaultInterpreterPath': '${workspaceFolder}/env/bin/python' };
  assert.equal(await choose({ settings }), path.join(root, 'env/bin/python'));
  const environments = { getActiveEnvironmentPath: () => ({}), resolveEnvironment: async () => ({ executable: { uri: { fsPath: '/selected' } } }) };
  const extensions = { 'ms-python.python': { exports: { environments } } };
  assert.equal(await choose({ settings, extensions }), '/selected');
  assert.equal(await choose({ settings, extensions }, '~/named'), path.join(os.homedir(), 'named'));
});

test('a Python extension that does not run yet is not waited for', async t => {
  const extensions = { 'ms-python.python': { exports: undefined } };
  assert.equal(await new Interpreters(fake({ extensions }), '/').choose(folder(scratch(t))), 'python3');
});

test('names of PATH and variables', () => {
  assert.equal(expanded('python3.11', '/w'), 'python3.11');
  assert.equal(expanded('./env/python', '/w'), '/w/env/python');
  assert.equal(expanded('${userHome}/p', '/w'), path.join(os.homedir(), 'p'));
  assert.equal(expanded('${env:HOME}/p', '/w'), path.join(process.env.HOME, 'p'));
});

const problems = [
  ['exit 3', /^pyharness is not installed in/, /pip install/], ['exit 4', /too old/, /Update/],
  ['echo >&2 no such libfoo; exit 127', /does not run: no such libfoo/, /Choose another/],
];
for (const [script, message, remedy] of problems)
  test(`an interpreter with "${script}" is explained`, async t => {
    const problem = await new Interpreters(fake(), '/').problem(interpreter(t, script));
    assert.match(problem.message, message);
    assert.match(problem.remedy, remedy);
  });

test('an interpreter that is not there is explained', async () => {
  assert.match((await new Interpreters(fake(), '/').problem('/not/there')).message, /There is no Python interpreter \/not\/there/);
});

test('a real interpreter without pyharness is told from one that has it', async t => {
  const python3 = execFileSync('sh', ['-c', 'command -v python3']).toString().trim(), where = scratch(t);
  const isolated = interpreter(t, `exec ${python3} -I -S "$@"`);
  assert.match((await new Interpreters(fake(), where).problem(isolated)).message, /not installed/);
  fs.mkdirSync(path.join(where, 'pyharness', 'dap'), { recursive: true });
  fs.writeFileSync(path.join(where, 'pyharness', '__init__.py'), '');
  const beside = interpreter(t, `PYTHONPATH=${where} exec ${python3} "$@"`);
  assert.equal(await new Interpreters(fake(), where).problem(beside), undefined);
  fs.rmdirSync(path.join(where, 'pyharness', 'dap'));
  assert.match((await new Interpreters(fake(), where).problem(interpreter(t, `PYTHONPATH=${where} exec ${python3} "$@"`))).message, /too old/);
});

test('a good interpreter is asked once', async t => {
  const interpreters = new Interpreters(fake(), '/'), good = interpreter(t, 'exit 0');
  assert.equal(await interpreters.problem(good), undefined);
  fs.rmSync(good);
  assert.equal(await interpreters.problem(good), undefined);
});

test('the install command can be copied, an interpreter chosen', async () => {
  const problem = { message: 'm', remedy: 'r', install: 'pip install it' };
  const copying = fake({ answers: { error: 'Copy Install Command' } });
  await new Interpreters(copying, '/').explain(problem);
  assert.deepEqual(copying.calls[1], ['clipboard', 'pip install it']);
  const choosing = fake({ answers: { error: 'Choose Interpreter', commands: ['python.setInterpreter'] } });
  await new Interpreters(choosing, '/').explain(problem);
  assert.deepEqual(choosing.calls[1], ['command', 'python.setInterpreter']);
});
