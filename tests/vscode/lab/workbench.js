// Drives the VS Code workbench in headless Chromium, by keyboard and mouse, and waits for what it shows.
const fs = require('fs'), os = require('os'), path = require('path');
const installed = process.env.VSCODE_LAB || path.resolve(__dirname, '../../../.vscode-lab');
const { chromium } = require(path.join(installed, 'node_modules/playwright-core'));
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const PATIENCE = 60000; // ms; for what takes a second or two on a quiet machine

/** Open the workbench at `url`; see the returned object's functions. */
exports.open = async url => {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'workbench-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.LAB_CHROMIUM || '/usr/bin/chromium', headless: true, viewport: { width: 1400, height: 900 }, args: FLAGS,
  });
  const page = context.pages()[0] || await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const close = async () => { await context.close(); fs.rmSync(profile, { recursive: true, force: true }); };
  try {
    await page.goto(url);
    await page.waitForSelector('.monaco-workbench .part.statusbar');
  } catch (error) {
    await close();
    throw error;
  }
  return { page, close, ...typing(page), ...looking(page), shot: file => shot(page, file) };
};

const typing = page => {
  const input = page.locator('.quick-input-widget input[type=text]');
  const row = page.locator('.quick-input-list .monaco-list-row.focused');
  /** Opens a picker by `key`, types `words`, waits for the row that shows `expected`, types `more` and takes it. */
  const choose = async (key, words, expected, more = '') => {
    await page.keyboard.press(key);
    await input.waitFor({ state: 'visible' });
    await page.keyboard.type(words);
    await row.filter({ hasText: expected }).waitFor();
    await page.keyboard.type(more);
    await page.keyboard.press('Enter');
  };
  const pick = async (...how) => {
    await choose(...how);
    await page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
  };
  /** Opens 'file.py:12' (of the workspace, by a part of its path) in an editor. A line typed before the file is found, hides it. */
  const quickOpen = async place => {
    const [, file, line] = /^(.*?)((?::\d+)*)$/.exec(place), name = path.basename(file);
    await pick('Control+P', file, name, line);
    await page.locator('.editor-group-container.active .tab.active').filter({ hasText: name }).waitFor();
    await page.locator('.editor-group-container.active .monaco-editor.focused').waitFor();
    if (line) await page.locator('.statusbar').filter({ hasText: `Ln ${line.split(':')[1]},` }).waitFor();
  };
  return {
    press: key => page.keyboard.press(key),
    /** Runs a command of the palette by its whole title, e.g. 'Debug: Select and Start Debugging'. */
    command: title => pick('F1', title, title.replace(/^.*?: /, '')),
    quickOpen,
    /** Opens 'file.py:12' and sets a breakpoint there by F9. */
    async breakpoint(place) {
      await quickOpen(place);
      const dots = page.locator('.editor-group-container.active .codicon-debug-breakpoint, .editor-group-container.active .codicon-debug-breakpoint-unverified');
      const before = await dots.count();
      await page.keyboard.press('F9');
      await dots.nth(before).waitFor();
    },
    /** Moves the cursor of the active editor by Ctrl+G. */
    async goToLine(line) {
      await page.keyboard.press('Control+G');
      await input.waitFor({ state: 'visible' });
      await page.keyboard.type(String(line));
      await page.keyboard.press('Enter');
      await page.locator('.statusbar').filter({ hasText: `Ln ${line},` }).waitFor();
    },
    /** Watches `expression`, once the Watch view's line for a new one is open, and opens the first item of each level. */
    async watch(expression, levels) {
      const rows = page.locator('.debug-watch .monaco-list-row');
      await page.locator('.debug-watch input').waitFor();
      await page.keyboard.type(expression);
      await page.keyboard.press('Enter');
      await rows.filter({ hasText: `${expression} =` }).waitFor();
      await pick('F1', 'Run and Debug: Focus on Watch View', 'Focus on Watch View');
      await page.keyboard.press('Home');
      for (let level = 1; level <= levels; level += 1) {
        await page.locator(`.debug-watch .monaco-list-row.focused[aria-level="${level}"]`).waitFor();
        await page.keyboard.press('ArrowRight'); // opens it
        await page.locator(`.debug-watch .monaco-list-row[aria-level="${level + 1}"]`).first().waitFor();
        await page.keyboard.press('ArrowRight'); // goes to its first item
      }
    },
    /** Starts a configuration of launch.json by its name, as a person who types 'debug NAME' after Ctrl+P; answers if it asks. */
    async startConfiguration(name, question, answer) {
      if (!question) { await pick('Control+P', `debug ${name}`, name); return; }
      await choose('Control+P', `debug ${name}`, name);
      await page.locator('.quick-input-widget').filter({ hasText: question }).waitFor();
      await page.keyboard.press('Control+A');
      await page.keyboard.type(answer);
      await page.keyboard.press('Enter');
    },
  };
};

const looking = page => {
  const text = async selector => (await page.locator(selector).first().innerText({ timeout: 1000 }).catch(() => '')).replace(/\s+/g, ' ');
  /** Waits until `selector` shows text that `pattern` matches; the text. */
  const see = async (selector, pattern, ms = PATIENCE) => {
    const found = ([where, source, flags]) =>
      new RegExp(source, flags).test([...document.querySelectorAll(where)].map(node => node.innerText).join(' ').replace(/\s+/g, ' '));
    await page.waitForFunction(found, [selector, pattern.source, pattern.flags], { timeout: ms }).catch(async () => {
      throw new Error(`${selector} never showed ${pattern}; it shows: ${await text(selector)}`);
    });
    return text(selector);
  };
  return {
    see, text,
    /** Waits until the workbench shows a thread paused in frame `name` and listens to the keys for it. */
    async paused(name) {
      await page.locator('.debug-call-stack .stack-frame').filter({ hasText: name }).first().waitFor();
      await page.locator('.editor-group-container.active .codicon-debug-stackframe, .editor-group-container.active .codicon-debug-breakpoint-stackframe').first().waitFor();
      await page.locator('.action-label.codicon-debug-continue:visible').first().waitFor();
    },
    callStack: () => text('.debug-call-stack'),
    seeCallStack: (pattern, ms) => see('.debug-call-stack', pattern, ms),
    /** Waits until `ready()` is true, which is what `what` says in the error. */
    async until(ready, what, ms = PATIENCE) {
      for (const end = Date.now() + ms; !(await ready());) {
        if (Date.now() > end) throw new Error(`waited ${ms} ms in vain for ${what}`);
        await page.waitForTimeout(50);
      }
    },
  };
};

async function shot(page, file) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  await page.screenshot({ path: file });
}
