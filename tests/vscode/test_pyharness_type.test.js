// One session in the real workbench: F5, a click in the gutter of generated code, into the kernel and back; by mouse, by keyboard.
'use strict';
const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, before, describe, test } = require('node:test');
const lab = require('./lab/lab');

const { repository } = lab;
const VSIX = path.join(repository, 'dist/pyharness.vsix');
const SHOTS = path.join(repository, 'artifacts/vscode');
const PYTHON = path.join(repository, '.venv/bin/python');
const TYPE = 'Pyharness (Python + C++)';

/** A folder as a user has it: their program, no launch.json; ended with the tests. */
function userFolder() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'pyharness-user-'));
  fs.copyFileSync(path.join(repository, 'examples/transformer.py'), path.join(folder, 'transformer.py'));
  return folder;
}

const lineOf = (file, text) => {
  const at = fs.readFileSync(file, 'utf8').split('\n').findIndex(line => line.includes(text));
  assert.ok(at >= 0, `${file} has no line with ${text}`);
  return at + 1;
};

/** What a person does and sees in this workbench. */
const hands = bench => {
  const { page } = bench;
  const editor = page.locator('.editor-group-container.active .monaco-editor');
  return {
    /** A click in the margin beside a line that is in view. */
    async clickGutter(line) {
      const number = editor.locator('.margin-view-overlays .line-numbers').filter({ hasText: new RegExp(`^${line}$`) });
      const box = await number.boundingBox();
      await page.mouse.click(box.x - 10, box.y + box.height / 2);
    },
    breakpoints: count => bench.until(async () => (await editor.locator('.codicon-debug-breakpoint').count()) === count, `${count} breakpoints`),
    toolbar: name => page.locator(`.debug-toolbar a.action-label[aria-label^="${name}"], .debug-toolbar .action-label[aria-label^="${name}"]`).click(),
    cursorAt: line => bench.see('.part.statusbar', new RegExp(`Ln ${line}, `)),
  };
};

module.exports = { hands, userFolder, lineOf, VSIX, SHOTS, PYTHON, TYPE };

describe('one session', { timeout: 300000 }, () => {
  let folder, bench, script;
  before(async () => {
    execFileSync('make', ['vscode'], { cwd: repository, stdio: 'ignore' });
    folder = userFolder();
    script = path.join(folder, 'transformer.py');
    bench = await lab.start({ workspace: folder, vsix: [VSIX], settings: { 'python.defaultInterpreterPath': PYTHON } });
  });
  after(async () => {
    await bench?.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  test('by mouse', async () => {
    const { page } = bench, hand = hands(bench);
    const call = lineOf(script, 'loss = model(tokens, targets)');
    await bench.quickOpen(`transformer.py:${call}`);
    await hand.cursorAt(call);
    await hand.clickGutter(call);
    await hand.breakpoints(1);
    await page.keyboard.press('F5');
    await page.getByRole('option', { name: TYPE, exact: true }).click();
    await bench.seeCallStack(/train.*transformer.py/).finally(() => bench.shot(path.join(SHOTS, 'x2.png')));
    await hand.toolbar('Step Into');
    await bench.seeCallStack(/forward.*train/).finally(() => bench.shot(path.join(SHOTS, 'x3.png')));
    await page.screenshot({ path: path.join(SHOTS, 'x3.png') });
    const generated = await bench.drive(vscode => vscode.window.activeTextEditor.document.uri.fsPath);
    const norm = lineOf(generated, 'torch.ops.pyharness.rms_norm.default(');
    await hand.clickGutter(norm);
    await hand.breakpoints(1);
    await hand.toolbar('Continue');
    await hand.cursorAt(norm).finally(() => bench.shot(path.join(SHOTS, 'x4.png')));
    await hand.toolbar('Step Into');
    await bench.seeCallStack(/rms_norm_autograd.*forward.*train/).finally(() => bench.shot(path.join(SHOTS, 'x5.png')));
    await bench.see('.debug-variables', /input/).finally(() => bench.shot(path.join(SHOTS, 'x5.png')));
    await page.locator('.debug-variables .monaco-list-row').filter({ hasText: /^input/ }).first().click();
    await bench.see('.debug-variables', /(dtype|shape)/).finally(() => bench.shot(path.join(SHOTS, 'x6.png')));
    await hand.toolbar('Step Out');
    await hand.cursorAt(norm + 1).finally(() => bench.shot(path.join(SHOTS, 'x7.png')));
  });
});
