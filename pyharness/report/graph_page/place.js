// Where the vertices of a group's ranks are: x nearest to their neighbours, y rank by rank.
const GAP = 26, PASSING = 14, BETWEEN = 40, PADDING = 16, HEAD = 24;

/** Where a value leaves or enters a vertex, seen from its left edge. */
const leaving = (vertex, value) => vertex.end?.kind === "group" && vertex.end.open ? vertex.end.outX.get(value) ?? vertex.width / 2 : vertex.width / 2;
const entering = (vertex, value) => vertex.end?.kind === "group" && vertex.end.open ? vertex.end.inX.get(value) ?? vertex.width / 2 : vertex.width / 2;

/** Left edges as near as can be to the wanted ones, in order and apart: neighbours that would overlap move as one. */
const spread = (rank, wanted, weights) => {
  const offsets = [0];
  for (let index = 1; index < rank.length; index++) {
    const narrow = !rank[index].end || !rank[index - 1].end;
    offsets.push(offsets[index - 1] + rank[index - 1].width + (narrow ? PASSING : GAP));
  }
  const blocks = [];
  wanted.forEach((x, index) => {
    let block = { sum: (x - offsets[index]) * weights[index], weight: weights[index], size: 1 };
    while (blocks.length && blocks.at(-1).sum / blocks.at(-1).weight >= block.sum / block.weight) {
      const last = blocks.pop();
      block = { sum: block.sum + last.sum, weight: block.weight + last.weight, size: block.size + last.size };
    }
    blocks.push(block);
  });
  let index = 0;
  for (const block of blocks) for (let left = block.size; left > 0; left--, index++) rank[index].x = block.sum / block.weight + offsets[index];
};
const pull = (rank, side) => {
  const wanted = rank.map(vertex => {
    const wires = vertex[side];
    if (!wires.length) return vertex.x;
    const ends = wires.map(wire => side === "up"
      ? wire.from.x + leaving(wire.from, wire.value) - entering(vertex, wire.value)
      : wire.to.x + entering(wire.to, wire.value) - leaving(vertex, wire.value));
    return ends.reduce((sum, end) => sum + end, 0) / ends.length;
  });
  spread(rank, wanted, rank.map(vertex => vertex[side].length ? (vertex.end ? 1 + vertex[side].length : 4) : 0.2));
};

/** How far the wires below a rank go to the side: they need the more room to bend. */
const widest = rank => rank.reduce((most, vertex) => vertex.down.reduce((far, { to, value }) =>
  Math.max(far, Math.abs(vertex.x + leaving(vertex, value) - to.x - entering(to, value))), most), 0);

/** Sets `x` and `y` of each vertex, and the size of the group around them. */
const placeAll = (group, ranks) => {
  ranks.forEach(rank => spread(rank, rank.map(() => 0), rank.map(() => 1)));
  for (let turn = 0; turn < 6; turn++) {
    for (let rank = 1; rank < ranks.length; rank++) pull(ranks[rank], "up");
    for (let rank = ranks.length - 2; rank >= 0; rank--) pull(ranks[rank], "down");
  }
  const all = ranks.flat();
  const left = all.reduce((least, vertex) => Math.min(least, vertex.x), all.length ? Infinity : 0) - PADDING;
  const top = group.parent ? HEAD : 0;
  const gaps = ranks.map(rank => BETWEEN + Math.min(60, widest(rank) * 0.1));
  let y = top;
  ranks.forEach((rank, index) => {
    const height = rank.reduce((most, vertex) => Math.max(most, vertex.height), 0);
    for (const vertex of rank) Object.assign(vertex, { x: vertex.x - left, top: y, bottom: y + height, y: y + (height - vertex.height) / 2 });
    y += height + (index + 1 < ranks.length ? gaps[index] : 0);
  });
  const label = nameOf(group).length * WIDE + 40 + (group.file ? FILE * NARROW : 0);
  group.width = Math.max(label, all.reduce((most, vertex) => Math.max(most, vertex.x + vertex.width), 0) + PADDING);
  group.height = y + PADDING;
};
