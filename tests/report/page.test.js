// The page of `pyharness trace --html` in a real browser: pointed at, clicked, typed into, with 10,000 events.
const { test } = require('node:test');
const assert = require('node:assert/strict');
const path = require('path');
const { pages, artifacts: artifactsOf } = require('./browser');

const artifacts = artifactsOf('trace');
const driver = page => ({
  details: () => page.locator('#details').innerText(),
  /** The canvas as it looks after the next frame. */
  look: async () => {
    await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
    return (await page.locator('#lanes').screenshot()).toString('base64');
  },
  /** Moves the pointer down the middle of the lanes until the tip says `text`; where that was. */
  pointAt: async text => {
    const box = await page.locator('#lanes').boundingBox();
    for (let y = box.y + 30; y < box.y + box.height; y += 8) {
      await page.mouse.move(box.x + box.width / 2, y);
      const tip = page.locator('#tip');
      if (await tip.isVisible() && (await tip.innerText()).includes(text)) return { x: box.x + box.width / 2, y };
    }
    return assert.fail(`nothing in the middle of the lanes says ${text}`);
  },
});
const opened = pages('write_page.py', artifacts, '#legend tr', driver);

test('10,000 events: all are counted, the whole and a part are drawn', () => opened(10000, async (page, { look }) => {
  assert.match(await page.locator('#summary').innerText(), /^5,838 ops · 4,170 autograd nodes · 139 backward passes · /);
  const whole = await look();
  await page.screenshot({ path: path.join(artifacts, 'whole.png') });
  const box = await page.locator('#lanes').boundingBox();
  await page.mouse.move(box.x + 400, box.y + 100);
  for (let turn = 0; turn < 8; turn++) await page.mouse.wheel(0, -300);
  assert.notEqual(await look(), whole);
  await page.screenshot({ path: path.join(artifacts, 'part.png') });
  await page.mouse.move(box.x + 5, box.y + box.height - 5);
  await page.keyboard.press('0');
  await page.mouse.move(5, 5);
  assert.equal(await look(), whole);
}));

test('pointing tells the name, the line, the module and the shapes; a click keeps them', () => opened(10000, async (page, { details, pointAt }) => {
  await page.locator('#search').fill('GeluBackward0');
  await page.keyboard.press('Enter');
  await page.locator('#lanes').focus();
  await page.keyboard.press('f');
  await page.keyboard.press('Escape');
  assert.match(await details(), /Point at an event/);
  const { x, y } = await pointAt('GeluBackward0');
  const tip = await page.locator('#tip').innerText();
  for (const part of ['15.0 µs', 'blocks.5.mlp.1', 'fx: mlp_1_5', 'Model_0123.py:38 forward', 'inputs float32[4, 16, 64]']) assert.ok(tip.includes(part), tip);
  await page.mouse.click(x, y);
  await page.mouse.move(5, 5);
  for (const part of [/GeluBackward0/, /autograd node/, /blocks\.5\.mlp\.1/, /16\.0 KiB/, /forward: aten::gelu/]) assert.match(await details(), part);
}));

test('forward and backward lead to each other', () => opened(10000, async (page, { details, look }) => {
  await page.locator('#lanes').focus();
  await page.keyboard.press(']');
  assert.match(await details(), /pyharness::rms_norm/);
  const alone = await look();
  await page.keyboard.press('p');
  assert.match(await details(), /RmsNormBackward[\s\S]*forward: pyharness::rms_norm/);
  assert.notEqual(await look(), alone);
  await page.getByRole('button', { name: /^forward: pyharness::rms_norm/ }).click();
  assert.match(await details(), /backward: RmsNormBackward/);
  await page.keyboard.press('s');
  await page.screenshot({ path: path.join(artifacts, 'partners.png') });
}));

test('search counts, goes on, goes back and dims the rest', () => opened(10000, async (page, { look }) => {
  const before = await look();
  await page.keyboard.press('/');
  await page.keyboard.type('gelu');
  assert.equal(await page.locator('#hits').innerText(), '1,668');
  assert.notEqual(await look(), before);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('#hits').innerText(), '2 of 1,668');
  await page.keyboard.press('Shift+Enter');
  assert.equal(await page.locator('#hits').innerText(), '1 of 1,668');
  await page.locator('#search').fill('no such thing');
  assert.equal(await page.locator('#hits').innerText(), 'none');
  for (const [words, count] of [['blocks.3.mlp', '695'], ['Model_0123.py:9', '278'], ['mixer_query_0', '417']]) {
    await page.locator('#search').fill(words);
    assert.equal(await page.locator('#hits').innerText(), count, words);
  }
}));

test('the legend has both halves, and shows one module alone', () => opened(10000, async (page, { look }) => {
  const before = await look(), row = page.locator('#legend tbody tr', { hasText: 'blocks.2' });
  assert.match(await row.innerText(), /blocks\.2\s+6\.25 ms\s+10\.4 ms/);
  await row.getByRole('button').click();
  assert.equal(await page.locator('#legend tr.off').count(), 5);
  assert.notEqual(await look(), before);
  await page.locator('#colour-by').selectOption({ label: 'by op and node' });
  assert.equal(await page.locator('#legend tr.off').count(), 0);
  assert.match(await page.locator('#legend').innerText(), /AddmmBackward0/);
}));

test('keys do what the mouse does', () => opened(10000, async (page, { look }) => {
  await page.locator('#lanes').focus();
  let before = await look();
  for (const key of ['w', 'w', 'd', 'a', 's', '+', '-', 'ArrowRight', 'ArrowLeft', 't']) {
    await page.keyboard.press(key);
    const after = await look();
    assert.notEqual(after, before, key);
    before = after;
  }
  await page.keyboard.press('?');
  assert.ok(await page.locator('#keys').isVisible());
  assert.match(await page.locator('#keys').innerText(), /zoom in/);
  await page.keyboard.press('Escape');
  assert.ok(!await page.locator('#keys').isVisible());
}));

test('it is as dark or light as the system, until told', () => opened(300, async page => {
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
  const dark = await paper();
  await page.screenshot({ path: path.join(artifacts, 'dark.png') });
  await page.locator('#theme').click();
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'light');
  assert.notEqual(await paper(), dark);
}, { colorScheme: 'dark' }));

test('names are text, whatever they look like', () => opened('hostile', async (page, { details }) => {
  await page.locator('#lanes').focus();
  for (let event = 0; event < 5; event++) {
    await page.keyboard.press(']');
    await page.keyboard.press('p');
    await page.keyboard.press('p');
    if (event === 0) assert.ok((await details()).includes("</script><img src=x onerror='window.ran = true'>"));
  }
  await page.locator('#search').fill('<img');
  assert.equal(await page.locator('img').count(), 0);
  assert.equal(await page.evaluate(() => window.ran), undefined);
  assert.ok((await page.locator('h1').innerText()).startsWith('</script><img'));
}));

test('a trace without events says so', () => opened(0, async page => {
  assert.match(await page.locator('#summary').innerText(), /^0 ops · 0 autograd nodes/);
}));
