// The page of a report that `pyharness run --report` writes, in a real browser: looked at, clicked, typed into.
const { test } = require('node:test');
const assert = require('node:assert/strict');
const path = require('path');
const { pages, artifacts: artifactsOf } = require('./browser');

const artifacts = artifactsOf('report');
const driver = page => ({
  details: () => page.locator('#details').innerText(),
  frame: text => page.locator('#threads button', { hasText: text }).first(),
});
const opened = pages('write_report_page.py', artifacts, '#threads summary', driver);

test('what happened, where, with variables', () => opened('crash', async (page, { details, frame }) => {
  assert.match(await page.locator('#verdict').innerText(), /^SIGSEGV .* a null pointer$/);
  assert.match(await details(), /^kernel[^]*Variables[^]*table\s+0x0/);
  await frame('forward').click();
  assert.match(await details(), /^forward[^]*5  from pyharness[^]*x\s+Tensor float32 \[2\]/);
  await page.screenshot({ path: path.join(artifacts, 'report.png') });
}));

test('machinery is folded until it is asked for', () => opened('crash', async (page, { frame }) => {
  assert.equal(await frame('dispatch').isVisible(), false);
  await page.keyboard.press('m');
  assert.equal(await frame('dispatch').isVisible(), true);
  await page.locator('#machinery').click();
  assert.equal(await frame('dispatch').isVisible(), false);
}));

test('a search finds frames, also those that are folded', () => opened('crash', async (page, { details }) => {
  await page.keyboard.press('/');
  await page.keyboard.type('dispatch');
  assert.equal(await page.locator('#hits').innerText(), '1');
  await page.keyboard.press('Enter');
  assert.match(await details(), /^dispatch/);
}));

test('names are text', () => opened('hostile', async page => {
  assert.equal(await page.evaluate(() => window.broken), undefined);
  assert.equal(await page.locator('#threads b, #threads script, #details img').count(), 0);
}));
