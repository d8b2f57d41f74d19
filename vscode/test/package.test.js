// package.json against the code and the docs: what is contributed exists, what is documented is true.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { table } = require('../lib/attributes');
const { offered } = require('../lib/configuration');
const { Tracker } = require('../lib/status');
const manifest = require('../package.json');

const root = path.join(__dirname, '..', '..');
const read = (...parts) => fs.readFileSync(path.join(root, ...parts), 'utf8');
const [contribution] = manifest.contributes.debuggers;
const attributes = contribution.configurationAttributes;

test('the version is that of the Python package', () => {
  assert.ok(read('pyharness', '__init__.py').includes(`__version__ = "${manifest.version}"`));
});

test('every command is registered, and the other way round', () => {
  const source = read('vscode', 'extension.js') + read('vscode', 'lib', 'generated.js');
  const registered = [...source.matchAll(/registerCommand\('([^']+)'/g)].map(match => match[1]);
  assert.deepEqual(registered.sort(), manifest.contributes.commands.map(each => each.command).sort());
});

test('every attribute has a type and a description', () => {
  for (const { properties } of Object.values(attributes))
    for (const [name, { type, markdownDescription }] of Object.entries(properties)) assert.ok(type && /\.$/.test(markdownDescription), name);
});

const configurations = [...contribution.initialConfigurations, ...contribution.configurationSnippets.map(each => each.body), ...offered()];
for (const { name, type, request, ...rest } of configurations)
  test(`configuration "${name}" uses attributes that exist`, () => {
    assert.equal(type, 'pyharness');
    assert.deepEqual(Object.keys(rest).filter(each => !(each in attributes[request].properties)), []);
    assert.ok(attributes[request].anyOf.some(({ required: [one] }) => one in rest), 'none of the required ones');
  });

test('only a debug session starts the extension', () => {
  assert.ok(manifest.activationEvents.every(event => event.startsWith('onDebug')));
});

test('the table in the docs is the one of package.json', () => {
  assert.ok(read('docs', 'vscode.md').includes(table(manifest).join('\n')), 'print it with: node vscode/lib/attributes.js');
});

test('the status bar says what takes long, and nothing after it', () => {
  const bar = { show() { this.shown = true; }, hide() { this.shown = false; } }, tracker = new Tracker(bar);
  const say = (event, body) => tracker.onDidSendMessage({ type: 'event', event, body });
  say('progressStart', { progressId: '1', title: 'reading symbols' });
  assert.deepEqual([bar.shown, bar.text], [true, '$(sync~spin) reading symbols']);
  say('progressUpdate', { progressId: '1', message: 'libfoo.so' });
  assert.match(bar.text, /libfoo/);
  say('stopped', {});
  assert.equal(bar.shown, true);
  say('progressEnd', { progressId: '1' });
  assert.equal(bar.shown, false);
});
