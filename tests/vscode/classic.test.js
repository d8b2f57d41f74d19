// The classic way: the compound of launch.json on the stock types, in the real workbench, by keyboard only.
const assert = require('node:assert/strict'), fs = require('fs'), os = require('os'), path = require('path');
const lab = require('./lab/lab');

const state = fs.mkdtempSync(path.join(os.tmpdir(), 'state-')); // of pyharness: where the program and gdb meet
process.on('exit', () => fs.rmSync(state, { recursive: true, force: true }));
const options = { env: { PYHARNESS_HOME: state } };
const line = (file, text) => 1 + fs.readFileSync(path.join(lab.repository, file), 'utf8').split('\n').findIndex(one => one.includes(text));
const next = (bench, name) => bench.drive((vscode, lab, which) => lab.stop(which), name);
const names = stop => stop.frames.map(frame => frame.name);

lab.test('F5 builds, starts, attaches; both kinds of breakpoints bind; both go on', options, async bench => {
  await bench.breakpoint(`examples/transformer.py:${line('examples/transformer.py', 'loss = model(tokens')}`);
  await bench.breakpoint(`rms_norm.cpp:${line('csrc/ops/rms_norm.cpp', 'if (needs_graph(input, weight))')}`);
  await bench.press('F5');
  const python = await next(bench, 'Python half');
  assert.equal(python.frames[0].name, 'train');
  await bench.shot(lab.artifact('classic-python.png'));

  await bench.press('F11'); // into the generated forward
  const generated = await next(bench, 'Python half');
  assert.match(generated.frames[0].source.path, /generated.*\.py$/);
  await bench.shot(lab.artifact('classic-generated.png'));

  await bench.press('F5');
  const native = await next(bench, 'gdb half');
  assert.match(native.frames[0].name, /rms_norm_autograd/);
  assert.match(native.frames[0].source.path, /csrc\/ops\/rms_norm\.cpp$/);
  await bench.seeCallStack(/rms_norm_autograd/);
  await bench.shot(lab.artifact('classic-native.png'));
});
