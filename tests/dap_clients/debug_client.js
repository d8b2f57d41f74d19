// One session through Microsoft's DebugClient: Python, a generated line, C++, and back; then nothing is left running.
// Usage: node debug_client.js MODULES PYHARNESS PROGRAM LINE, where LINE of PROGRAM calls a traced module with our op.
'use strict';

const assert = require('assert');
const path = require('path');

const [modules, pyharness, program, line] = process.argv.slice(2);
const { DebugClient } = require(path.join(modules, '@vscode/debugadapter-testsupport'));

const PATIENCE = 60_000; // its own five seconds are fewer than a first import of torch may take
const said = [];

function client() {
  const made = new DebugClient(pyharness, 'dap', 'pyharness', { stdio: 'pipe' });
  made.defaultTimeout = PATIENCE;
  for (const name of ['stopped', 'breakpoint', 'output', 'terminated', 'exited', 'process']) {
    made.on(name, (event) => said.push(`<- ${name} ${JSON.stringify(event.body)}`));
  }
  const send = made.send.bind(made);
  made.send = async (command, args) => {
    said.push(`-> ${command} ${JSON.stringify(args)}`);
    const response = await send(command, args);
    said.push(`<- ${command} ${JSON.stringify(response.body)}`);
    return response;
  };
  return made;
}

async function stopAfter(dc, request) {
  const [stopped] = await Promise.all([dc.waitForEvent('stopped'), request]);
  const response = await dc.stackTraceRequest({ threadId: stopped.body.threadId, startFrame: 0, levels: 0 });
  return { ...stopped.body, frames: response.body.stackFrames };
}

const named = (frame) => frame.presentationHint !== 'label';
const file = (frame) => (frame.source ? path.basename(frame.source.path) : '');

async function value(dc, expression, frame) {
  return (await dc.evaluateRequest({ expression, frameId: frame.id, context: 'watch' })).body.result;
}

async function intoTheKernel(dc, at) {
  const generated = at.frames[0];
  assert.match(file(generated), /^Model_\w+\.py$/, 'the generated forward is a file');
  assert.strictEqual(await value(dc, 'x.shape[1]', generated), '4');

  const native = await stopAfter(dc, dc.stepInRequest({ threadId: at.threadId }));
  assert.match(file(native.frames[0]), /\.cpp$/, 'stepIn lands in C++');
  const languages = native.frames.filter(named).map(file);
  const order = [/\.cpp$/, /^Model_\w+\.py$/, new RegExp(`^${path.basename(program)}$`)];
  const places = order.map((pattern) => languages.findIndex((name) => pattern.test(name)));
  assert.deepStrictEqual(places, [...places].sort((a, b) => a - b), `C++ above generated above the user's: ${languages}`);
  assert.ok(!places.includes(-1), `all of them are there: ${languages}`);
  assert.match(await value(dc, 'eps', native.frames[0]), /e-0?7|e-0?6/, 'an argument of the kernel');
  const scopes = (await dc.scopesRequest({ frameId: native.frames[0].id })).body.scopes;
  const variables = await dc.variablesRequest({ variablesReference: scopes[0].variablesReference });
  assert.ok(variables.body.variables.some((each) => each.name === 'input'), 'the kernel has its arguments');

  const out = await stopAfter(dc, dc.stepOutRequest({ threadId: at.threadId }));
  assert.strictEqual(file(out.frames[0]), file(generated));
  assert.ok(out.frames[0].line > generated.line, 'stepOut lands on the next generated line');
}

async function session(dc) {
  await dc.start();
  const launch = { program, cwd: path.dirname(program), console: 'internalConsole' };
  const hit = dc.hitBreakpoint(launch, { path: program, line: Number(line) });
  const at = (await dc.waitForEvent('stopped')).body;
  await hit;
  const bound = await dc.setFunctionBreakpointsRequest({ breakpoints: [{ name: 'fx:norm' }] });
  assert.strictEqual(bound.body.breakpoints[0].verified, true, 'the traced module has its file by now');
  const inside = await stopAfter(dc, dc.continueRequest({ threadId: at.threadId }));
  assert.strictEqual(inside.reason, 'breakpoint');
  await intoTheKernel(dc, inside);
}

async function main() {
  const dc = client();
  try {
    await session(dc);
    const adapter = dc._adapterProcess;
    const exited = new Promise((resolve) => adapter.once('exit', (code, signal) => resolve(signal || code)));
    await dc.disconnectRequest({ terminateDebuggee: true });
    assert.strictEqual(await exited, 0, 'the adapter ends by itself after disconnect');
    console.log('DebugClient: passed');
  } catch (error) {
    console.error(`${error.stack}\n--- the conversation\n${said.join('\n')}`);
    process.exitCode = 1;
    dc.stopAdapter();
  }
}

main();
