// One session in the real workbench: F5, a stop in generated code set by a click, into the kernel and back; by mouse, by keyboard.
'use strict';
const assert = require('node:assert/strict');
const path = require('node:path');
const { LABEL, artifact, lineOf, repository, test, userFolder } = require('./test_pyharness_type_hands');

const KERNEL = path.join(repository, 'csrc/ops/rms_norm.cpp');
const NORM = 'torch.ops.pyharness.rms_norm.default(';
const CALL = 'loss = model(tokens, targets)';
const WHOLE_STACK = /rms_norm_autograd .*forward .*train .*<module> /;
const byMouse = userFolder(), byKeys = userFolder();

test('into the kernel and back by mouse', { workspace: byMouse }, async bench => {
  const { page } = bench, call = lineOf(path.join(byMouse, 'transformer.py'), CALL);
  await bench.quickOpen(`transformer.py:${call}`);
  await bench.clickGutter(call);
  await bench.press('F5');
  await page.getByRole('option', { name: LABEL, exact: true }).click();
  await bench.seeCallStack(/train transformer\.py/);
  await bench.widenSideBar(200);
  await bench.collapse('Watch');
  await bench.collapse('Breakpoints');
  await bench.heightenVariables(480);
  await bench.toolbar('step-into');
  const generated = await bench.standsAt('Transformer_');
  const norm = lineOf(generated, NORM);
  await bench.clickGutter(norm);
  await bench.toolbar('continue');
  await bench.standsAt('Transformer_', norm);
  await bench.seeCallStack(/forward \[fx rms_norm_default of blocks\.0\.norm\] .*train .*<module> /);
  await bench.expand(/^Locals/);
  await bench.expand(/^add/);
  await bench.variables(/shape/);
  await bench.expand(/^FX/, false);
  await bench.variables(/statistics/);
  await bench.see('.monaco-editor .view-lines', /←\sblocks\.0\.mixer/);
  await bench.picture('stopped-in-generated-code.png');
  await bench.toolbar('step-into');
  await bench.seeCallStack(WHOLE_STACK);
  assert.equal(await bench.standsAt('rms_norm.cpp', lineOf(KERNEL, 'if (needs_graph(input, weight)) {')), KERNEL);
  await bench.variables(/input/);
  await bench.expand(/^input/);
  await bench.variables(/dtype/);
  await bench.picture('tensor-in-the-kernel.png');
  await bench.toolbar('step-out');
  await bench.standsAt('Transformer_', norm + 1);
  await bench.picture('back-in-generated-code.png');
});

test('into the kernel and back by keyboard only', { workspace: byKeys }, async bench => {
  const { page } = bench;
  await bench.quickOpen(`transformer.py:${lineOf(path.join(byKeys, 'transformer.py'), CALL)}`);
  await bench.press('F9');
  await bench.press('F5');
  await bench.see('.quick-input-list .monaco-list-row.focused', /Pyharness/);
  await bench.press('Enter');
  await bench.seeCallStack(/train transformer\.py/);
  await bench.press('F11');
  const norm = lineOf(await bench.standsAt('Transformer_'), NORM);
  await goToLine(bench, norm);
  await bench.press('F9');
  await bench.see('.debug-breakpoints', /Transformer_/);
  await bench.press('F5');
  await bench.seeCallStack(/forward \[fx rms_norm_default/);
  await bench.press('F11');
  await bench.seeCallStack(WHOLE_STACK);
  assert.equal(await bench.standsAt('rms_norm.cpp'), KERNEL);
  await bench.command('Run and Debug: Focus on Variables View');
  await bench.variables(/input/);
  const focused = page.locator('.debug-variables .monaco-list-row.focused');
  await bench.until(async () => {
    if (/^input/.test(await focused.innerText({ timeout: 1000 }).catch(() => ''))) return true;
    await bench.press('ArrowDown');
    return false;
  }, 'the row of `input` to have the focus');
  await bench.press('ArrowRight');
  await bench.variables(/dtype/);
  await bench.shot(artifact('by-keyboard.png'));
  await bench.press('Shift+F11');
  await bench.standsAt('Transformer_', norm + 1);
  await bench.press('Shift+F5');
  await bench.drive((vscode, lab) => lab.idle());
});

async function goToLine(bench, line) {
  await bench.page.keyboard.press('Control+G');
  await bench.page.locator('.quick-input-widget input').waitFor({ state: 'visible' });
  await bench.page.keyboard.type(String(line));
  await bench.page.keyboard.press('Enter');
  await bench.standsAt('Transformer_', line);
}
