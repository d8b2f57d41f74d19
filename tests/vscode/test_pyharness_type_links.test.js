// What the extension adds around a session: links of generated code, the run button, debugServer, and what it says when it cannot.
'use strict';
const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { PYTHON, lineOf, repository, test, userFolder } = require('./test_pyharness_type_hands');

const CALL = 'loss = model(tokens, targets)';
const linked = userFolder(), bare = userFolder(), served = userFolder('examples/transformer.py', []);

test('generated code and its origin link to each other', { workspace: linked }, async bench => {
  const script = path.join(linked, 'transformer.py'), origin = lineOf(script, 'ops.rms_norm(x');
  await bench.breakpoint(`transformer.py:${lineOf(script, CALL)}`);
  await bench.command('Pyharness: Debug Python File');
  await bench.seeCallStack(/train transformer\.py/);
  await bench.quickOpen(`transformer.py:${origin}`);
  await bench.command('Pyharness: Open Generated Code of This Line');
  await bench.see('.quick-input-list', /blocks_0_norm_weight ← blocks\.0\.norm.*rms_norm_default ← blocks\.0\.norm/);
  await bench.press('Enter');
  const generated = await bench.standsAt('Transformer_');
  await bench.standsAt('Transformer_', lineOf(generated, 'blocks_0_norm_weight = '));
  await bench.see('.monaco-editor .view-lines', new RegExp(`← blocks\\.0\\.norm, transformer\\.py:${origin}`.replace(/ /g, '\\s')));
  await bench.command('Pyharness: Open Origin of This Generated Line');
  assert.equal(await bench.standsAt('transformer.py', origin), script);
});

test('an interpreter without pyharness is said before anything starts', { workspace: bare, settings: { 'python.defaultInterpreterPath': without() } }, async bench => {
  await bench.quickOpen('transformer.py');
  await bench.press('F5');
  await bench.see('.quick-input-list .monaco-list-row.focused', /Pyharness/);
  await bench.press('Enter');
  await bench.see('.monaco-dialog-box', /pyharness is not installed in .*Install it there \(.* -m pip install pyharness-debugger\)/);
  await bench.press('Escape');
  await bench.page.locator('.monaco-dialog-box').waitFor({ state: 'hidden' });
  assert.deepEqual(await bench.drive((vscode, lab) => [lab.sessions.size, lab.ended.length]), [0, 0]);
});

/** A Python that sees only its own standard library. */
function without() {
  const file = path.join(path.dirname(bare), 'python');
  fs.writeFileSync(file, '#!/bin/sh\nexec python3 -I -S "$@"\n', { mode: 0o755 });
  return file;
}

for (const type of ['pyharness', 'debugpy'])
  test(`debugServer connects type ${type}`, { workspace: served }, async bench => {
    const server = spawn(PYTHON, ['-m', 'pyharness', 'dap', '--port', '0'], { cwd: repository });
    try {
      const { port, token } = JSON.parse(await new Promise(resolve => server.stdout.once('data', resolve)));
      const configuration = { name: 'served', type, request: 'launch', program: '${workspaceFolder}/transformer.py', debugServer: port, token };
      fs.mkdirSync(path.join(served, '.vscode'), { recursive: true });
      fs.writeFileSync(path.join(served, '.vscode/launch.json'), JSON.stringify({ version: '0.2.0', configurations: [configuration] }));
      await bench.breakpoint(`transformer.py:${lineOf(path.join(served, 'transformer.py'), CALL)}`);
      await bench.startConfiguration('served');
      await bench.seeCallStack(/train transformer\.py/);
      await bench.press('Shift+F5');
      await bench.drive((vscode, lab) => lab.idle());
    } finally {
      server.kill();
    }
  });
