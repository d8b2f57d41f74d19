// The page of `pyharness ranks --html` in a real browser: looked at, clicked, typed into, with up to 1,024 ranks.
const { test } = require('node:test');
const assert = require('node:assert/strict');
const path = require('path');
const { pages, artifacts: artifactsOf } = require('./browser');

const artifacts = artifactsOf('ranks');
const driver = page => ({
  details: () => page.locator('#details').innerText(),
  line: text => page.locator('#tree summary', { hasText: text }).first(),
});
const opened = pages('write_ranks_page.py', artifacts, '#tree summary', driver);

test('the verdict, the tree and the table; the culprit is marked, its threads are shown', () => opened(4, async (page, { details }) => {
  assert.match(await page.locator('#verdict.fault').innerText(), /^culprit: rank 1 never came to all_reduce #2 of default_pg/);
  assert.match(await page.locator('#tree .culprit > summary').first().innerText(), /^\[1\]/);
  assert.deepEqual(await page.locator('#matrix tr.culprit .cell').evaluateAll(cells => cells.map(cell => cell.className)), ['cell over', 'cell absent']);
  assert.match(await details(), /^rank 1: sleeps in layer1/);
  await page.screenshot({ path: path.join(artifacts, 'ranks.png') });
}));

test('a line is folded by a click, and shows the threads of its ranks', () => opened(4, async (page, { details, line }) => {
  await line('[0-3]').click();
  assert.match(await details(), /^4 ranks: rank 0, rank 1, rank 2, rank 3/);
  assert.equal(await line('[1] layer1').isVisible(), false);
  await page.keyboard.press('e');
  assert.equal(await line('[1] layer1').isVisible(), true);
  await page.locator('#matrix button', { hasText: '0,2-3' }).click();
  assert.match(await details(), /^3 ranks: rank 0, rank 2, rank 3/);
}));

test('a search finds lines, and goes from one to the next', () => opened(1024, async (page, { details }) => {
  await page.keyboard.press('/');
  await page.keyboard.type('layer3');
  assert.equal(await page.locator('#hits').innerText(), '11');
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('#hits').innerText(), '1 of 11');
  assert.match(await details(), /ranks: rank 3, rank 43/);
}));

test('names stay text', () => opened('hostile', async page => {
  assert.match(await page.locator('#tree').innerText(), /script/);
}));
