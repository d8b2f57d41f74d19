// The classic way: the compound of launch.json on the stock types, in the real workbench, by keyboard only.
const assert = require('node:assert/strict'), { execFileSync } = require('child_process'), fs = require('fs'), os = require('os'), path = require('path');
const lab = require('./lab/lab');

const state = fs.mkdtempSync(path.join(os.tmpdir(), 'state-')); // of pyharness: where the program and gdb meet
process.on('exit', () => fs.rmSync(state, { recursive: true, force: true }));
const options = { env: { PYHARNESS_HOME: state } };
const line = (file, text) => 1 + fs.readFileSync(path.join(lab.repository, file), 'utf8').split('\n').findIndex(one => one.includes(text));
const next = (bench, name) => bench.drive((vscode, lab, which) => lab.stop(which), name);
const exitCode = bench => bench.dap().find(entry => entry.session.includes('Python half') && entry.message?.event === 'exited')?.message.body.exitCode;

/** A folder with a program, a C++ extension and an environment, none of which is this repository's. */
function project() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'project-'));
  process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  const python = path.join(lab.repository, '.venv/bin/python');
  const asked = "import sysconfig, torch; print(torch.__path__[0], sysconfig.get_paths()['include'], sysconfig.get_config_var('EXT_SUFFIX'))";
  const [torch, include, suffix] = execFileSync(python, ['-c', asked], { encoding: 'utf8' }).split(/\s/);
  fs.copyFileSync(path.join(lab.repository, 'tests/programs/core_crossing.py'), path.join(folder, 'main.py'));
  fs.copyFileSync(path.join(lab.repository, 'tests/debugger/extension.cpp'), path.join(folder, 'extension.cpp'));
  fs.symlinkSync(path.join(lab.repository, '.venv'), path.join(folder, '.venv'));
  const flags = ['-std=c++17', '-g', '-O0', '-fPIC', '-shared', '-pthread', `-I${torch}/include`, `-I${include}`];
  execFileSync('c++', [...flags, path.join(folder, 'extension.cpp'), '-o', path.join(folder, `crossing${suffix}`)], { cwd: folder });
  execFileSync(python, ['-m', 'pyharness', 'vscode', folder], { cwd: lab.repository });
  return folder;
}

lab.test('F5 builds, starts, attaches; both kinds of breakpoints bind; both go on', options, async bench => {
  await bench.breakpoint(`examples/transformer.py:${line('examples/transformer.py', 'loss = model(tokens')}`);
  await bench.breakpoint(`rms_norm.cpp:${line('csrc/ops/rms_norm.cpp', 'if (needs_graph(input, weight))')}`);
  await bench.press('F5');
  const python = await next(bench, 'Python half');
  assert.equal(python.frames[0].name, 'train');
  await bench.paused('train');

  await bench.press('F11'); // into the generated forward
  const generated = await next(bench, 'Python half');
  assert.match(generated.frames[0].source.path, /generated.*\.py$/);
  await bench.paused('forward');
  await bench.seeCallStack(/forward.*train/);
  await bench.see('.debug-variables', /\btokens\b(?!.*\boptimizer\b)/);
  await bench.shot(lab.artifact('classic-generated.png'));

  await bench.press('F5');
  const native = await next(bench, 'gdb half');
  assert.match(native.frames[0].name, /rms_norm_autograd/);
  assert.match(native.frames[0].source.path, /csrc\/ops\/rms_norm\.cpp$/);
  const below = native.frames.map(frame => `${frame.name} ${frame.source?.name}`).join(', ');
  assert.match(below, /rms_norm_autograd rms_norm\.cpp, forward Transformer_\w+\.py, .*train transformer\.py/);
  await bench.paused('rms_norm_autograd');
  await bench.seeCallStack(/rms_norm_autograd.*forward.*train/);
  await bench.shot(lab.artifact('classic-native.png'));

  await bench.press('F5'); // the next block's norm, in the same generated forward
  assert.match((await next(bench, 'gdb half')).frames[0].name, /rms_norm_autograd/);
  await bench.paused('rms_norm_autograd');
  await bench.command('Remove All Breakpoints');
  await bench.press('F5');
  await bench.drive((vscode, lab) => lab.idle());
  assert.equal(exitCode(bench), 0);
});

lab.test('another project, with the file that `pyharness vscode` writes for it', { ...options, workspace: () => project() }, async bench => {
  await bench.breakpoint(`main.py:${line('tests/programs/core_crossing.py', '# @held')}`);
  await bench.breakpoint(`extension.cpp:${line('tests/debugger/extension.cpp', '// @scaled_return')}`);
  await bench.quickOpen('main.py');
  await bench.press('F5');
  assert.equal((await next(bench, 'Python half')).frames[0].name, 'main');
  await bench.paused('main');
  await bench.press('F5');
  const native = await next(bench, 'gdb half');
  assert.deepEqual(native.frames.slice(0, 3).map(frame => frame.name), ['crossing::scaled', 'crossing::held', 'main']);
  await bench.paused('crossing::scaled');
  await bench.press('Shift+F11'); // out of scaled
  assert.match((await next(bench, 'gdb half')).frames[0].name, /crossing::held/);
  await bench.shot(lab.artifact('classic-other-project.png'));
  await bench.paused('crossing::held');
  await bench.press('Shift+F5'); // ends both halves
  await bench.drive((vscode, lab) => lab.idle());
});
