// The classic way: the compound of launch.json on the stock types, in the real workbench, by keyboard only.
const assert = require('node:assert/strict'), { execFileSync } = require('child_process'), fs = require('fs'), os = require('os'), path = require('path');
const lab = require('./lab/lab');

const state = fs.mkdtempSync(path.join(os.tmpdir(), 'state-')); // of pyharness: where the program and gdb meet
process.on('exit', () => fs.rmSync(state, { recursive: true, force: true }));
const options = { env: { PYHARNESS_HOME: state } };
const QUIET = { 'editor.minimap.enabled': false, 'editor.stickyScroll.enabled': false, 'debug.internalConsoleOptions': 'neverOpen' };
const line = (file, text) => 1 + fs.readFileSync(path.resolve(lab.repository, file), 'utf8').split('\n').findIndex(one => one.includes(text));
const next = (bench, name) => bench.drive((vscode, lab, which) => lab.stop(which), name);
const names = stop => stop.frames.map(frame => frame.name).join(', ');
const where = ({ frames: [{ source, line }] }) => [source.path.replace(/^vscode-remote:\/+[^/]+/, ''), line];
const exitCode = bench => bench.dap().find(entry => entry.session.includes('Python half') && entry.message?.event === 'exited')?.message.body.exitCode;

/** A folder with a program, a C++ extension that is not built yet and an environment, none of which is this repository's. */
function project() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'project-'));
  process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  const python = path.join(lab.repository, '.venv/bin/python');
  const asked = "import sysconfig, torch; print(torch.__path__[0], sysconfig.get_paths()['include'], sysconfig.get_config_var('EXT_SUFFIX'))";
  const [torch, include, suffix] = execFileSync(python, ['-c', asked], { encoding: 'utf8' }).split(/\s/);
  fs.copyFileSync(path.join(lab.repository, 'tests/programs/core_crossing.py'), path.join(folder, 'main.py'));
  fs.copyFileSync(path.join(lab.repository, 'tests/debugger/extension.cpp'), path.join(folder, 'extension.cpp'));
  fs.symlinkSync(path.join(lab.repository, '.venv'), path.join(folder, '.venv'));
  const flags = `-std=c++17 -g -O0 -fPIC -shared -pthread -I${torch}/include -I${include}`;
  const write = (file, text) => fs.writeFileSync(path.join(folder, file), text);
  const unit = (name, detail) => `\tc++ ${flags} ${detail} -c -D${name} $(CURDIR)/$< -o ${name}.o\n`;
  write('Makefile', `crossing${suffix}: extension.cpp\n${unit('CALLS', '')}${unit('BINDINGS', '-g1')}\tc++ ${flags} $(CURDIR)/$< CALLS.o BINDINGS.o -o $@\n`);
  fs.mkdirSync(path.join(folder, '.vscode'));
  write('.vscode/tasks.json', JSON.stringify({ version: '2.0.0', tasks: [{ label: 'build', type: 'shell', command: 'make', problemMatcher: '$gcc' }] }));
  execFileSync(python, ['-m', 'pyharness', 'vscode', folder, '--build', 'build'], { cwd: lab.repository });
  return folder;
}

/** What is written in the generated file of the model, once a stop has shown where it is. */
const GENERATED = /generated.*Transformer_\w+\.py$/, NORM = 'torch.ops.pyharness.rms_norm.default(';

lab.test('F5 builds, starts, attaches; steps cross between the halves', { ...options, settings: QUIET }, async bench => {
  await bench.breakpoint(`examples/transformer.py:${line('examples/transformer.py', 'loss = model(tokens')}`);
  await bench.press('F5');
  assert.equal((await next(bench, 'Python half')).frames[0].name, 'train');
  await bench.paused('train');

  await bench.press('F11'); // into the generated forward
  const [generated] = where(await next(bench, 'Python half'));
  assert.match(generated, GENERATED);
  await bench.paused('forward');
  const norm = line(generated, NORM);
  await bench.goToLine(norm);
  await bench.press('F9');
  await bench.press('F5');
  assert.deepEqual(where(await next(bench, 'Python half')), [generated, norm]);
  await bench.paused('forward');
  await bench.seeCallStack(/forward.*train.*<module>/);
  await bench.see('.debug-variables', /\badd = Tensor float32 \[/);
  await bench.shot(lab.artifact('classic-generated.png'));

  await bench.press('F11'); // into the kernel
  const native = await next(bench, 'gdb half');
  assert.match(native.frames[0].source.path, /csrc\/ops\/rms_norm\.cpp$/);
  assert.match(names(native), /^pyharness::ops::rms_norm_autograd, forward, train, <module>/);
  await bench.paused('rms_norm_autograd');
  await bench.seeCallStack(/rms_norm_autograd.*forward.*train/);
  await bench.drive(vscode => { vscode.commands.executeCommand('workbench.debug.viewlet.action.addWatchExpression'); });
  await bench.watch('$ph_elements(input)', 3);
  await bench.see('.debug-watch', /ph_elements.* 0\.5107/);
  await bench.shot(lab.artifact('classic-native.png'));

  await bench.press('Shift+F11'); // back to the next generated line
  assert.deepEqual(where(await next(bench, 'Python half')), [generated, norm + 1]);
  await bench.paused('forward');
  await bench.see('.debug-variables', /\brms_norm_default = Tensor float32 \[/);
  await bench.shot(lab.artifact('classic-back.png'));
  await bench.command('Remove All Breakpoints');
  await bench.press('F5');
  await bench.drive((vscode, lab) => lab.idle());
  assert.equal(exitCode(bench), 0);
});

lab.test('both kinds of breakpoints bind, and both halves go on', options, async bench => {
  await bench.breakpoint(`examples/transformer.py:${line('examples/transformer.py', 'loss = model(tokens')}`);
  await bench.breakpoint(`rms_norm.cpp:${line('csrc/ops/rms_norm.cpp', 'if (needs_graph(input, weight))')}`);
  await bench.press('F5');
  assert.equal((await next(bench, 'Python half')).frames[0].name, 'train');
  await bench.paused('train');
  for (const block of ['first', 'second']) { // two norms in one generated forward
    await bench.press('F5');
    assert.match(names(await next(bench, 'gdb half')), /^pyharness::ops::rms_norm_autograd, forward, train/, block);
    await bench.paused('rms_norm_autograd');
  }
  await bench.command('Remove All Breakpoints');
  await bench.press('F5');
  await bench.drive((vscode, lab) => lab.idle());
  assert.equal(exitCode(bench), 0);
});

lab.test('another project, built by F5, with the file that `pyharness vscode` writes for it', { ...options, workspace: () => project() }, async bench => {
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

lab.test('one rank of a torchrun job', { ...options, workspace: () => project() }, async bench => {
  await bench.breakpoint(`extension.cpp:${line('tests/debugger/extension.cpp', '// @scaled_return')}`);
  await bench.quickOpen('main.py');
  await bench.startConfiguration('Python + gdb attach: one rank of torchrun', 'The rank to debug', '1');
  const native = await next(bench, 'gdb half');
  assert.match(names(native), /^crossing::scaled, crossing::held, main/);
  await bench.paused('crossing::scaled');
  await bench.shot(lab.artifact('classic-torchrun.png'));
  await bench.press('Shift+F5');
  await bench.drive((vscode, lab) => lab.idle());
});
