// The whole drawing: each open group is laid out by itself, innermost first, and is then one item of the group around it.

const layoutGroup = group => {
  for (const child of group.children) {
    if (child.kind === "node") Object.assign(child, sizeOfNode(child.node));
    else if (child.open) layoutGroup(child);
    else Object.assign(child, sizeOfClosed(child));
  }
  const { vertices, of } = makeVertices(group);
  rankAll(group, vertices, of);
  const wires = makeChains(group, vertices, of);
  const ranks = makeRanks(vertices);
  orderAll(ranks, vertices.length > 4000 ? 6 : 16);
  placeAll(group, ranks);
  const portX = ports => new Map([...ports].map(([value, port]) => [value, of.get(port).x + of.get(port).width / 2]));
  const bottom = group.height, last = ranks.at(-1) ?? [];
  if (group.outs.size) for (const vertex of last) if (vertex.end?.port === "out") Object.assign(vertex, { y: bottom, bottom, top: bottom });
  if (group.ins.size) for (const vertex of ranks[0]) if (vertex.end?.port === "in") Object.assign(vertex, { y: 0, top: 0, bottom: 0 });
  Object.assign(group, { wires, inX: portX(group.ins), outX: portX(group.outs) });
  for (const child of group.children) { const vertex = of.get(child); Object.assign(child, { x: vertex.x, y: vertex.y }); }
};

/** Where a wire meets its target: a node's inputs side by side, in the order in which they come. */
const meets = wire => {
  const { to, value } = wire;
  if (to.end?.kind !== "node" || to.up.length < 2) return entering(to, value);
  to.sorted ??= [...to.up].sort((a, b) => a.from.x + leaving(a.from, a.value) - b.from.x - leaving(b.from, b.value));
  const step = Math.min(22, to.width * 0.8 / to.up.length);
  return to.width / 2 + (to.sorted.indexOf(wire) - (to.up.length - 1) / 2) * step;
};
/** One wire: straight down to the end of its rank, a bend to the next rank, straight down to its target. */
const pathOf = (wire, dx, dy) => {
  const { from, to, value } = wire, n = number => number.toFixed(1);
  const x = from.x + leaving(from, value) + dx, tx = to.x + meets(wire) + dx;
  const y = (from.end ? from.y + from.height : from.bottom) + dy, low = from.bottom + dy, high = to.top + dy;
  const bend = (high - low) * 0.5, end = (to.end ? to.y : to.top) + dy;
  const turn = Math.abs(x - tx) < 0.5 ? `V${n(high)}` : `C${n(x)} ${n(low + bend)} ${n(tx)} ${n(high - bend)} ${n(tx)} ${n(high)}`;
  return { start: `M${n(x)} ${n(y)}`, rest: `V${n(low)}${turn}${end > high ? `V${n(end)}` : ""}` };
};
/** Wires that pass ranks, as one path up to where another one branches off: [{last, path, top}]. */
const pathsOf = group => {
  const paths = [], taken = new Set();
  for (const first of group.wires) {
    if (taken.has(first)) continue;
    let wire = first, { start, rest } = pathOf(first, group.left, group.over), path = start + rest;
    taken.add(first);
    while (!wire.to.end) {
      const next = wire.to.down.find(each => !taken.has(each));
      if (!next) break;
      taken.add(next);
      path += pathOf(next, group.left, group.over).rest;
      wire = next;
    }
    paths.push({ last: wire, path, top: first.from.top });
  }
  return paths;
};

/** Positions on the page, from the group's corner. */
const settle = (group, x, y) => {
  Object.assign(group, { left: x, over: y });
  for (const child of group.children) {
    if (child.kind === "group" && child.open) settle(child, x + child.x, y + child.y);
    else Object.assign(child, { left: x + child.x, over: y + child.y });
  }
};
