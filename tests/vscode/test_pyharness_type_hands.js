// What the tests of type pyharness share: a user's folder, and what a person does in the workbench with the mouse.
'use strict';
const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const lab = require('./lab/lab');

const { repository } = lab;
const PYTHON = path.join(repository, '.venv/bin/python');
const VSIX = path.join(repository, 'dist/pyharness.vsix');
const LABEL = 'Pyharness (Python + C++)';
const SETTINGS = { // room for what is looked at; nothing of this machine in a picture
  'python.defaultInterpreterPath': PYTHON, 'debug.internalConsoleOptions': 'neverOpen', 'editor.minimap.enabled': false, 'breadcrumbs.enabled': false,
  'editor.stickyScroll.enabled': false,
};

/** A folder as a user has it: `program` of the examples or the tests, and `launch` configurations if any; gone at the end. */
function userFolder(program = 'examples/transformer.py', launch = undefined) {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'pyharness-user-')), folder = path.join(scratch, 'my-model');
  process.on('exit', () => fs.rmSync(scratch, { recursive: true, force: true }));
  fs.mkdirSync(folder);
  fs.copyFileSync(path.join(repository, program), path.join(folder, path.basename(program)));
  if (launch) {
    fs.mkdirSync(path.join(folder, '.vscode'));
    const configurations = launch.map(each => ({ type: 'pyharness', request: 'launch', ...each }));
    fs.writeFileSync(path.join(folder, '.vscode/launch.json'), JSON.stringify({ version: '0.2.0', configurations }));
  }
  return folder;
}

/** A test with a workbench that has the extension, packaged as users get it. */
function test(name, { workspace, settings = {}, ...options }, body) {
  execFileSync('make', ['vscode'], { cwd: repository, stdio: 'ignore' });
  lab.test(name, { workspace, vsix: [VSIX], settings: { ...SETTINGS, ...settings }, ...options }, bench => body({ ...bench, ...hands(bench) }));
}

/** The 1-based number of the first line of `file` that has `text`. */
function lineOf(file, text) {
  const at = fs.readFileSync(file, 'utf8').split('\n').findIndex(line => line.includes(text));
  assert.ok(at >= 0, `${file} has no line with ${text}`);
  return at + 1;
}

const hands = ({ page, see, until, drive, shot }) => {
  const editor = page.locator('.editor-group-container.active .monaco-editor');
  const row = (view, pattern) => page.locator(`${view} .monaco-list-row`).filter({ hasText: pattern }).first();
  return {
    row,
    /** Click in the margin beside a line that is in view, and see a breakpoint there. */
    async clickGutter(line) {
      const { x, y, height } = await editor.locator('.margin-view-overlays .line-numbers').filter({ hasText: new RegExp(`^${line}$`) }).boundingBox();
      await page.mouse.click(x - 10, y + height / 2);
      await until(async () => (await drive(breakpointLines)).includes(line), `a breakpoint on line ${line}`);
    },
    /** Click a button of the debug toolbar, by its icon: continue, step-into, step-out, stop, ... */
    toolbar: icon => page.locator(`a.action-label.codicon-debug-${icon}`).first().click(),
    /** The active editor is that of a file with `name` in its name, with the cursor on `line`; its path. */
    async standsAt(name, line) {
      await see('.editor-group-container.active .tab.active', new RegExp(name.replace(/\./g, '\\.')));
      if (line) await see('.part.statusbar', new RegExp(`Ln ${line}, `));
      let file; // the extension host hears of it a moment later
      await until(async () => (file = await drive(activeFile)).includes(name), `${name} to be the active file`);
      return file;
    },
    /** Click the triangle of a row of the Variables view, again where the view was just made anew. */
    expand: (pattern, wanted = true) => until(async () => {
      const state = () => row('.debug-variables', pattern).getAttribute('aria-expanded');
      if (await state() === String(wanted)) return true;
      await row('.debug-variables', pattern).locator('.monaco-tl-twistie').click();
      return await state() === String(wanted);
    }, `${pattern} to be ${wanted ? 'expanded' : 'collapsed'}`),
    collapse: title => page.locator('.pane-header', { hasText: title }).click(),
    /** A picture without what the mouse points at; kept as an artifact. */
    async picture(name) {
      await page.mouse.move(250, 5);
      await page.locator('.monaco-hover:visible, .workbench-hover:visible').waitFor({ state: 'hidden' });
      await shot(lab.artifact(name));
    },
    variables: pattern => see('.debug-variables', pattern),
    /** Make the side bar as wide as a person who reads long names has it. */
    async widenSideBar(by) {
      const { x, y, width } = await page.locator('.part.sidebar').boundingBox();
      await page.mouse.move(x + width, y + 300);
      await page.mouse.down();
      await page.mouse.move(x + width + by, y + 300, { steps: 5 });
      await page.mouse.up();
    },
    /** Drag the head of the call stack's view down to `bottom`: more room for the variables. Views move while they fold. */
    async heightenVariables(bottom) {
      const head = page.locator('.pane-header', { hasText: 'Call Stack' });
      await until(async () => {
        const { x, y } = await head.boundingBox();
        await page.mouse.move(x + 200, y);
        await page.mouse.down();
        await page.mouse.move(x + 200, bottom, { steps: 5 });
        await page.mouse.up();
        return (await head.boundingBox()).y > bottom - 10;
      }, 'the variables to have more room');
    },
  };
};

const activeFile = vscode => vscode.window.activeTextEditor?.document.uri.fsPath ?? '';
const breakpointLines = vscode => vscode.debug.breakpoints.map(each => each.location?.range.start.line + 1);

module.exports = { LABEL, PYTHON, VSIX, lineOf, repository, test, userFolder, artifact: lab.artifact };
