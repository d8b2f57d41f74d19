// The running Python programs, read from /proc, and the list to choose one from.
'use strict';
const fs = require('node:fs');
const path = require('node:path');

const START = '/pyharness/debuggee/start.py';
const OURS = /(^|\/)(debugpy|lsp_server\.py|run-jedi-language-server\.py|get_output_via_markers\.py)|^pyharness(\/|$)/;

/** Python programs, the newest first: `{pid, name, command}`. Debuggers and language servers are left out. */
function list(proc = '/proc') {
  const pids = fs.readdirSync(proc).filter(name => /^\d+$/.test(name));
  return pids.map(pid => read(proc, pid)).filter(Boolean).sort((a, b) => b.started - a.started || b.pid - a.pid);
}

function read(proc, pid) {
  try {
    const words = fs.readFileSync(path.join(proc, pid, 'cmdline'), 'utf8').split('\0').slice(0, -1);
    if (!/^python[\d.]*$/.test(path.basename(words[0] ?? ''))) return undefined;
    const name = program(words);
    return OURS.test(name) ? undefined : { pid: Number(pid), name, command: words.join(' '), started: startOf(proc, pid) };
  } catch {
    return undefined; // it has ended meanwhile, or is not ours to see
  }
}

/** What a command line runs: its script or module. */
function program(words) {
  const TAKES_VALUE = new Set(['-X', '-W', '--check-hash-based-pycs']);
  for (let at = 1; at < words.length; at++) {
    if (words[at] === '-m') return words[at + 1] === 'pyharness.debuggee' ? inside(words.slice(at + 1)) : words[at + 1] ?? '';
    if (words[at] === '-c') return '-c';
    if (TAKES_VALUE.has(words[at])) at++;
    else if (!words[at].startsWith('-')) return words[at].endsWith(START) ? inside(words.slice(at + 1)) : words[at];
  }
  return '(interactive)';
}

/** The program that runs under the harness: what follows its own options. */
function inside(words) {
  const rest = words.slice(words[0] === 'run' || words[0] === 'nan' ? 2 : 1);
  return rest.filter((word, at) => !word.startsWith('-') && !['--channel', '--debugpy'].includes(rest[at - 1]))[0] ?? '';
}

/** Clock ticks from boot to its start: field 22; the name in field 2 may hold spaces and parentheses. */
function startOf(proc, pid) {
  const stat = fs.readFileSync(path.join(proc, pid, 'stat'), 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
}

/** Ask; the process id as text, as `${command:pickProcess}` needs it. */
async function pick(vscode) {
  const items = list().map(({ pid, name, command }) => ({ label: path.basename(name), description: String(pid), detail: command }));
  if (!items.length) return void vscode.window.showErrorMessage('No Python program is running here that pyharness could attach to.');
  const options = { title: 'Attach to a Python program', placeHolder: 'Name, process id or command line', matchOnDescription: true, matchOnDetail: true };
  return (await vscode.window.showQuickPick(items, options))?.description;
}

module.exports = { list, program, pick };
