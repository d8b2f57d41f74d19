// Generated code and the user's lines it comes from: two commands between them, and a link at each generated line.
'use strict';
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const sourceMap = require('./source-map');

const NOT_GENERATED = 'This line is not one of generated code that has a source map.';
const NONE = 'No generated code yet: it has a file once a program that pyharness runs has traced a module.';
const NEWEST = 200; // files that are looked at when nothing runs: the folder is never pruned

function register(vscode, type) {
  const hints = new Hints(vscode);
  return [
    vscode.commands.registerCommand('pyharness.openOrigin', () => openOrigin(vscode)),
    vscode.commands.registerCommand('pyharness.openGenerated', () => openGenerated(vscode, type)),
    vscode.languages.registerInlayHintsProvider({ language: 'python', scheme: 'file' }, hints),
  ];
}

/** From the generated line under the cursor to the user's line. */
async function openOrigin(vscode) {
  const [file, line] = position(vscode);
  const map = file && sourceMap.mapOf(file);
  const entry = map && sourceMap.at(map, line);
  if (!entry?.file) return vscode.window.showInformationMessage(NOT_GENERATED);
  await open(vscode, entry.file, entry.origin);
}

/** From the user's line under the cursor to the lines it became; any generated file where it became none. */
async function openGenerated(vscode, type) {
  const files = (await known(vscode, type)).filter(file => sourceMap.mapOf(file));
  if (!files.length) return vscode.window.showInformationMessage(NONE);
  const [file, line] = position(vscode);
  const exact = files.flatMap(each => sourceMap.from(sourceMap.mapOf(each), file, line).map(entry => item(each, entry)));
  const items = exact.length ? exact : files.map(each => item(each, { line: 1 }));
  const chosen = items.length === 1 ? items[0] : await vscode.window.showQuickPick(items, { title: exact.length ? 'What this line became' : 'Generated code' });
  if (chosen) await open(vscode, chosen.file, chosen.line);
}

function item(file, { line, node, module }) {
  const label = node ? `${node}${module ? ` ← ${module}` : ''}` : sourceMap.mapOf(file).graph;
  return { label, description: `${path.basename(file)}:${line}`, detail: file, file, line };
}

/** The generated files of the session; without one, the newest that were ever made. */
async function known(vscode, type) {
  const session = vscode.debug.activeDebugSession;
  if (session?.type === type) {
    const { sources } = await session.customRequest('loadedSources').then(answer => answer, () => ({ sources: [] }));
    if (sources.length) return sources.map(source => pathOf(vscode, source.path));
  }
  return newest(folder());
}

/** VS Code makes URIs of an adapter's paths; in a remote window not even of scheme `file`. */
const pathOf = (vscode, given) => given.includes('://') ? vscode.Uri.parse(given).fsPath : given;

const folder = (env = process.env) =>
  path.join(env.PYHARNESS_HOME || path.join(env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'pyharness'), 'generated');

function newest(where) {
  const files = fs.existsSync(where) ? fs.readdirSync(where).filter(name => name.endsWith('.py')).map(name => path.join(where, name)) : [];
  const aged = files.map(file => ({ file, modified: fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0 }));
  return aged.sort((a, b) => b.modified - a.modified).slice(0, NEWEST).map(each => each.file);
}

/** File and 1-based line of the cursor, which follows the frame that is looked at. */
function position(vscode) {
  const editor = vscode.window.activeTextEditor;
  return editor ? [editor.document.uri.fsPath, editor.selection.active.line + 1] : [];
}

async function open(vscode, file, line) {
  const place = new vscode.Range(line - 1, 0, line - 1, 0);
  await vscode.window.showTextDocument(vscode.Uri.file(file), { selection: place });
}

/** At the end of each generated line: `← blocks.0.norm, transformer.py:33`, a link. */
class Hints {
  constructor(vscode) {
    this.vscode = vscode;
  }

  provideInlayHints(document, range) {
    const map = this.vscode.workspace.getConfiguration('pyharness').get('inlineOrigins') && sourceMap.mapOf(document.uri.fsPath);
    if (!map) return [];
    const shown = map.lines.filter(each => each.file && each.line > range.start.line && each.line <= Math.min(range.end.line + 1, document.lineCount));
    return unique(shown).map(entry => this.hint(document, entry));
  }

  hint(document, entry) {
    const { vscode } = this;
    const part = new vscode.InlayHintLabelPart(`  ← ${entry.module ? `${entry.module}, ` : ''}${path.basename(entry.file)}:${entry.origin}`);
    part.location = new vscode.Location(vscode.Uri.file(entry.file), new vscode.Position(entry.origin - 1, 0));
    part.tooltip = `FX node ${entry.node}`;
    const hint = new vscode.InlayHint(document.lineAt(entry.line - 1).range.end, [part]);
    hint.paddingLeft = true;
    return hint;
  }
}

/** One a line: inputs without a statement of their own share the line of `def`. */
const unique = entries => [...new Map(entries.map(each => [each.line, each])).values()];

module.exports = { register, openOrigin, openGenerated, newest, folder, Hints };
