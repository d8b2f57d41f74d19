// Opens pages of ours in a real browser, for the tests beside this file.
const { before, after } = require('node:test');
const assert = require('node:assert/strict');
const { execFileSync } = require('child_process');
const fs = require('fs'), os = require('os'), path = require('path');

const root = path.resolve(__dirname, '../..');
const installed = process.env.VSCODE_LAB || path.join(root, '.vscode-lab');
const { chromium } = require(path.join(installed, 'node_modules/playwright-core'));
const python = process.env.LAB_PYTHON || path.join(root, '.venv/bin/python');

/**
 * A function that opens the page which `writer` writes of `what` and hands it to `body`; nothing may be fetched, no script
 * may fail. `ready`: what is there once the page is drawn; `driver`: what `body` gets beside the page.
 */
exports.pages = (writer, artifacts, ready, driver) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'page-'));
  let browser;
  before(async () => {
    fs.mkdirSync(artifacts, { recursive: true });
    browser = await chromium.launch({ executablePath: process.env.LAB_CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
  });
  after(async () => { await browser?.close(); fs.rmSync(folder, { recursive: true, force: true }); });
  return async (what, body, options = {}) => {
    const file = path.join(folder, `${what}.html`);
    if (!fs.existsSync(file)) execFileSync(python, [path.join(__dirname, writer), String(what), file]);
    const context = await browser.newContext({ viewport: { width: 1400, height: 850 }, colorScheme: 'light', ...options });
    const page = await context.newPage(), wrong = [];
    page.on('console', message => { if (message.type() === 'error') wrong.push(message.text()); });
    page.on('pageerror', error => wrong.push(error.stack));
    page.on('request', request => { if (request.url() !== `file://${file}`) wrong.push(request.url()); });
    try {
      await page.goto(`file://${file}`);
      await page.locator(ready).first().waitFor();
      await body(page, driver(page));
      assert.deepEqual(wrong, []);
    } finally { await context.close(); }
  };
};
exports.artifacts = name => path.join(root, 'artifacts', name);
