// The page of `pyharness fx draw` in a real browser: looked at, clicked, typed into, with up to 2,000 nodes.
const { test } = require('node:test');
const assert = require('node:assert/strict');
const path = require('path');
const { pages, artifacts: artifactsOf } = require('./browser');

const artifacts = artifactsOf('graph');
const driver = page => ({
  details: () => page.locator('#details').innerText(),
  place: () => page.locator('#world').getAttribute('transform'),
  node: name => page.locator('.node', { hasText: name }).first(),
  settled: () => page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))),
});
const opened = pages('write_graph_page.py', artifacts, '#world .node, #world .closed', driver);

test('a node shows its op, its generated line, its module and its shape; a click shows the rest', () => opened(60, async (page, { details, node }) => {
  assert.match(await page.locator('#summary').innerText(), /^torch\.fx · 60 nodes/);
  const words = await node('node_4 =').evaluate(element => [...element.querySelectorAll('text')].map(text => text.textContent));
  assert.deepEqual(words, ['Linear', 'call_module', 'node_4 = blocks.0.linear(node_3, x)', 'blocks.0.linear  ·  float32[2, 3]']);
  await node('node_4 =').click();
  for (const part of [/^node_4/, /op\s+call_module/, /class\s+Linear/, /generated code, line 5/, /inputs \(2\)/, /users \(\d\)/]) assert.match(await details(), part);
  await page.locator('#details').getByRole('button', { name: 'node_3', exact: true }).click();
  assert.match(await details(), /^node_3/);
  await page.screenshot({ path: path.join(artifacts, 'node.png') });
}));

test('nodes lie in the boxes of their modules, and no two overlap', () => opened(60, async (page, { settled }) => {
  await page.keyboard.press('0');
  await settled();
  const boxes = await page.evaluate(() => [...document.querySelectorAll('.node')].map(element => {
    const box = element.querySelector('.box').getBoundingClientRect(), frame = element.closest('.group').querySelector('.frame');
    const outer = frame && element.closest('.group').dataset.group !== 'undefined' ? frame.getBoundingClientRect() : null;
    return { left: box.left, top: box.top, right: box.right, bottom: box.bottom, inside: !outer || box.left >= outer.left && box.right <= outer.right && box.top >= outer.top && box.bottom <= outer.bottom };
  }));
  assert.equal(boxes.length, 60);
  assert.ok(boxes.every(box => box.inside));
  for (const [index, a] of boxes.entries()) for (const b of boxes.slice(index + 1)) {
    assert.ok(a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top);
  }
  const labels = await page.locator('.group .label').allTextContents();
  for (const label of ['▾ blocks.0', '▾ blocks.0.mlp', '▾ blocks.2']) assert.ok(labels.includes(label), `${label} of ${labels}`);
}));

test('values run downwards, from each node to its users', () => opened(60, async (page, { settled }) => {
  await page.keyboard.press('0');
  await settled();
  const upwards = await page.evaluate(() => {
    const top = index => document.querySelector(`[data-node="${index}"] .box`).getBoundingClientRect().top;
    const nodes = JSON.parse(document.getElementById('data').textContent).graphs[0].nodes;
    return nodes.flatMap((node, index) => node.inputs.filter(input => top(input) >= top(index)).map(input => [input, index]));
  });
  assert.deepEqual(upwards, []);
  assert.equal(await page.locator('.edge.ends').count() >= 59, true);
}));

test('parameters that a compiler made inputs stand in the module that uses them, a real input above', () => opened('compiled', async (page, { settled }) => {
  await page.keyboard.press('0');
  await settled();
  const groups = await page.evaluate(() => {
    const nodes = JSON.parse(document.getElementById('data').textContent).graphs[0].nodes;
    const label = element => element.closest('.group').querySelector(':scope > .handle .label')?.textContent ?? '';
    return Object.fromEntries(nodes.map((node, index) => [node.name, label(document.querySelector(`[data-node="${index}"]`))]));
  });
  assert.deepEqual([groups.x, groups.output], ['', '']);
  for (const module of ['first', 'second']) for (const name of ['weight', 'bias', 'scale', 'linear', 'mul']) assert.equal(groups[`${module}_${name}`], `▾ ${module}`);
  assert.equal(await page.locator('.handle').count(), 2);
}));

test('by kernel: a box for each call, with the kernel’s name and file, and nothing else in a box', () => opened('kernels', async (page, { details, node, settled }) => {
  await page.locator('#graphs').selectOption({ label: 'Model-1 by kernel' });
  await page.keyboard.press('0');
  await settled();
  assert.match(await page.locator('#summary').innerText(), /3 calls of kernels/);
  const groups = await page.evaluate(() => {
    const label = element => element.closest('.group').querySelector(':scope > .handle .label')?.textContent ?? '';
    return [...document.querySelectorAll('.node')].map(element => [element.querySelector('.line').textContent.split(' ')[0], label(element)]).filter(([, text]) => text);
  });
  assert.deepEqual(groups.map(([name, label]) => [name, label.slice(0, 24)]), [
    ['first_mul', '▾ cpp_fused_mul_0'],
    ['second_linear', '▾ cpp_fused__native_batc'],
    ['first_mul', '▾ cpp_fused__native_batc'],
    ['second_mul', '▾ cpp_fused__native_batc'],
  ]);
  assert.ok(groups.every(([, label]) => label.length < 60), groups.join());
  await node('second_mul').click();
  for (const part of [/kernel\s+name\s+cpp_fused__native_batch_norm_\w+_1, call 1 of 2/, /file\s+\/cache\/ab\/cpp_\w+\.main\.cpp/, /lines\s+7-8/]) assert.match(await details(), part);
}));

test('a group closes and opens by a click on its name, and stays where it is', () => opened(60, async (page, { settled }) => {
  const label = page.locator('.handle', { hasText: /^▾ blocks\.0$/ });
  const before = await label.boundingBox(), nodes = await page.locator('.node').count();
  await label.click();
  const closed = page.locator('.closed', { hasText: '▸ blocks.0' });
  assert.match(await closed.evaluate(element => element.textContent), /blocks\.020 nodes/);
  const after = await closed.boundingBox();
  assert.ok(Math.abs(before.x - after.x) < 12 && Math.abs(before.y - after.y) < 12);
  assert.equal(await page.locator('[data-node="4"]').count(), 0);
  await closed.click();
  await settled();
  assert.equal(await page.locator('.node').count(), nodes);
}));

test('search counts, goes on, goes back, dims the rest and opens what hides a hit', () => opened(2000, async (page, { details }) => {
  await page.keyboard.press('/');
  await page.keyboard.type('blocks.77.mlp');
  assert.equal(await page.locator('#hits').innerText(), '10');
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('#hits').innerText(), '1 of 10');
  assert.match(await details(), /^node_1551/);
  assert.equal(await page.locator('.node.selected').count(), 1);
  assert.ok(await page.locator('.node.selected').isVisible());
  await page.keyboard.press('Shift+Enter');
  assert.equal(await page.locator('#hits').innerText(), '10 of 10');
  await page.screenshot({ path: path.join(artifacts, 'search.png') });
  await page.locator('#search').fill('no such thing');
  assert.equal(await page.locator('#hits').innerText(), 'none');
  await page.keyboard.press('Escape');
  assert.match(await details(), /Click a node/);
}));

test('2,000 nodes: groups are closed, what is out of sight is not in the document, all can be opened', () => opened(2000, async (page, { settled }) => {
  assert.match(await page.locator('#summary').innerText(), /2,000 nodes/);
  assert.ok(await page.locator('.closed').count() > 3);
  await page.keyboard.press('e');
  await settled();
  assert.ok(await page.locator('.node').count() < 200);
  await page.keyboard.press('0');
  await settled();
  assert.equal(await page.locator('.node').count(), 2000);
  assert.equal(await page.locator('.node text').count(), 0); // too small to be read
  await page.screenshot({ path: path.join(artifacts, 'large.png') });
  await page.keyboard.press('c');
  await settled();
  assert.ok(await page.locator('.node, .closed').count() < 40);
}));

test('keys do what the mouse does', () => opened(60, async (page, { details, place, settled }) => {
  await page.locator('#drawing').focus();
  let before = await place();
  for (const key of ['+', '-', '0', 'Home', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'ArrowUp']) {
    await page.keyboard.press(key);
    await settled();
    const now = await place();
    assert.notEqual(now, before, key);
    before = now;
  }
  for (const [key, name] of [[']', /^x/], [']', /^node_1/], ['u', /^node_2/], ['i', /^node_1/], ['[', /^x/]]) {
    await page.keyboard.press(key);
    assert.match(await details(), name, key);
  }
  await page.keyboard.press('?');
  assert.match(await page.locator('#keys').innerText(), /zoom in/);
  await page.keyboard.press('Escape');
  assert.ok(!await page.locator('#keys').isVisible());
}));

test('the wheel zooms at the pointer, a drag moves, the strip goes anywhere', () => opened(60, async (page, { place, settled, node }) => {
  const box = await node('node_2 =').boundingBox();
  await page.mouse.move(box.x + 5, box.y + 5);
  await page.mouse.wheel(0, -200);
  await settled();
  const near = await node('node_2 =').boundingBox();
  assert.ok(near.width > box.width * 1.2 && Math.abs(near.x - box.x) < 8 && Math.abs(near.y - box.y) < 8);
  await page.mouse.down();
  await page.mouse.move(box.x + 105, box.y + 65, { steps: 4 });
  await page.mouse.up();
  await settled();
  const moved = await node('node_2 =').boundingBox();
  assert.ok(Math.abs(moved.x - near.x - 100) < 3 && Math.abs(moved.y - near.y - 60) < 3);
  const before = await place();
  const strip = await page.locator('#map').boundingBox();
  await page.mouse.click(strip.x + 20, strip.y + strip.height - 10);
  await settled();
  assert.notEqual(await place(), before);
  assert.ok(await page.locator('.node', { hasText: 'output' }).first().isVisible());
}));

test('one of several graphs is chosen', () => opened('two', async page => {
  assert.ok(await page.locator('#graphs').isVisible());
  await page.locator('#graphs').selectOption({ label: 'Model-2' });
  assert.match(await page.locator('#summary').innerText(), /60 nodes/);
  await page.locator('#graphs').selectOption({ label: 'Model-3' });
  assert.match(await page.locator('#summary').innerText(), /0 nodes/);
  assert.equal(await page.locator('.node').count(), 0);
  await page.locator('#drawing').focus();
  for (const key of ['0', 'Home', 'e', 'c', '+', ']', 'u', 'x', 'f', 'Escape']) await page.keyboard.press(key);
}));

test('it is as dark or light as the system, until told', () => opened(60, async page => {
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
  const dark = await paper();
  await page.screenshot({ path: path.join(artifacts, 'dark.png') });
  await page.keyboard.press('t');
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'light');
  assert.notEqual(await paper(), dark);
}, { colorScheme: 'dark' }));

test('names are text, whatever they look like', () => opened('hostile', async (page, { details }) => {
  for (let node = 0; node < 3; node++) await page.keyboard.press(']');
  await page.keyboard.press('[');
  assert.ok((await details()).includes("</script><img src=x onerror='window.ran = true'>"));
  await page.locator('#search').fill('<img');
  assert.equal(await page.locator('img').count(), 0);
  assert.equal(await page.evaluate(() => window.ran), undefined);
}));
