// Between generated code and the user's lines: source maps, links and the two commands.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const test = require('node:test');
const { Hints, folder, newest, openGenerated, openOrigin } = require('../lib/generated');
const sourceMap = require('../lib/source-map');
const { fake } = require('./fake');

const entry = (line, node, module, origin, more = {}) => ({
  line, node, op: 'call_function', target: 't', module, origin_file: origin ? '/w/model.py' : null, origin_line: origin, last_line: null, ...more,
});
const LINES = [entry(4, 'x', null, null), entry(5, 'norm', 'blocks.0.norm', 33), entry(6, 'add', null, 40, { last_line: 8 }), entry(9, 'norm_1', 'blocks.1.norm', 33)];

const generatedFile = (t, lines = LINES, name = 'Model_1.py') => {
  const where = fs.mkdtempSync(path.join(os.tmpdir(), 'pyharness-vscode-')), file = path.join(where, name);
  t.after(() => fs.rmSync(where, { recursive: true }));
  fs.writeFileSync(file, '\n'.repeat(10));
  fs.writeFileSync(file + sourceMap.SUFFIX, JSON.stringify({ version: 1, file, graph: 'Model', lines }));
  return file;
};
const editor = (file, line) => ({ document: { uri: { fsPath: file } }, selection: { active: { line: line - 1 } } });
const session = files => ({ type: 'pyharness', customRequest: async () => ({ sources: files.map((path, at) => ({ path: at % 2 ? path : `vscode-remote://host${path}` })) }) });
const opened = vscode => vscode.calls.filter(([name]) => name === 'open').map(([, uri, { selection }]) => [uri.fsPath, selection.args[0] + 1]);

test('a statement has all of its lines', t => {
  const map = sourceMap.mapOf(generatedFile(t));
  assert.deepEqual([5, 6, 7, 8, 9].map(line => sourceMap.at(map, line)?.node), ['norm', 'add', 'add', 'add', 'norm_1']);
  assert.equal(sourceMap.at(map, 1), undefined);
});

test('a map is read again once it has changed', t => {
  const file = generatedFile(t);
  assert.equal(sourceMap.mapOf(file).lines.length, 4);
  fs.writeFileSync(file + sourceMap.SUFFIX, JSON.stringify({ version: 1, graph: 'Model', lines: [] }));
  fs.utimesSync(file + sourceMap.SUFFIX, 1, 1);
  assert.equal(sourceMap.mapOf(file).lines.length, 0);
});

for (const text of ['', '{}', '[1]', '{"version": 2, "lines": []}', '{"version": 1}', 'null'])
  test(`${text || 'an empty file'} is no map`, t => {
    const file = generatedFile(t);
    fs.writeFileSync(file + sourceMap.SUFFIX, text);
    assert.equal(sourceMap.mapOf(file), undefined);
  });

test('a generated line opens its origin', async t => {
  const vscode = fake({ editor: editor(generatedFile(t), 7) });
  await openOrigin(vscode);
  assert.deepEqual(opened(vscode), [['/w/model.py', 40]]);
});

for (const line of [1, 4])
  test(`generated line ${line} has no origin, and it is said`, async t => {
    const vscode = fake({ editor: editor(generatedFile(t), line) });
    await openOrigin(vscode);
    assert.match(vscode.calls[0][1], /not one of generated code/);
  });

test('a line that became one generated line opens that one', async t => {
  const file = generatedFile(t), vscode = fake({ editor: editor('/w/model.py', 40), session: session([file, '/w/model.py']) });
  await openGenerated(vscode, 'pyharness');
  assert.deepEqual(opened(vscode), [[file, 6]]);
});

test('a line that became several asks which', async t => {
  const file = generatedFile(t), vscode = fake({ editor: editor('/w/model.py', 33), session: session([file]), answers: { quickPick: { file, line: 9 } } });
  await openGenerated(vscode, 'pyharness');
  assert.deepEqual(vscode.calls[0][1].map(each => each.label), ['norm ← blocks.0.norm', 'norm_1 ← blocks.1.norm']);
  assert.deepEqual(opened(vscode), [[file, 9]]);
});

test('any other line offers the files', async t => {
  const files = [generatedFile(t), generatedFile(t, LINES, 'Model_2.py')];
  const vscode = fake({ session: session(files) });
  await openGenerated(vscode, 'pyharness');
  assert.deepEqual(vscode.calls[0][1].map(each => each.file), files);
});

test('without a session the newest files are offered', async t => {
  const file = generatedFile(t), where = path.dirname(file);
  fs.utimesSync(file, 1, 1);
  fs.writeFileSync(path.join(where, 'Later.py'), '');
  assert.deepEqual(newest(where), [path.join(where, 'Later.py'), file]);
  assert.deepEqual(newest(path.join(where, 'none')), []);
});

test('generated files lie where pyharness writes them', () => {
  assert.equal(folder({ PYHARNESS_HOME: '/h' }), '/h/generated');
  assert.equal(folder({ XDG_CACHE_HOME: '/c' }), '/c/pyharness/generated');
  assert.equal(folder({}), path.join(os.homedir(), '.cache/pyharness/generated'));
});

test('no generated code is said', async () => {
  const vscode = fake({ session: session(['/w/model.py']) });
  await openGenerated(vscode, 'pyharness');
  assert.match(vscode.calls[0][1], /No generated code yet/);
});

test('each generated line in view links to its origin, once', t => {
  const file = generatedFile(t, [...LINES, entry(5, 'twin', null, 34)]);
  const document = { uri: { fsPath: file }, lineCount: 11, lineAt: line => ({ range: { end: line } }) };
  const hints = on => new Hints(fake({ settings: { 'pyharness.inlineOrigins': on } })).provideInlayHints(document, { start: { line: 0 }, end: { line: 7 } });
  assert.deepEqual(hints(true).map(hint => [hint.position, hint.label[0].value]), [[4, '  ← model.py:34'], [5, '  ← model.py:40']]);
  assert.equal(hints(true)[1].label[0].location.args[0].fsPath, '/w/model.py');
  assert.deepEqual(hints(false), []);
});
