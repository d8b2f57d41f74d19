// A layered layout of one group: ranks, the order in each rank, then x and y. After Sugiyama, Tagawa and Toda (1981).

/** Vertices of a group: its items, its ports, and where a value only passes a rank. */
const makeVertices = group => {
  const vertices = [], of = new Map();
  const add = (end, width, height) => {
    const vertex = { end, width, height, rank: 0, up: [], down: [], x: 0 };
    of.set(end, vertex);
    vertices.push(vertex);
    return vertex;
  };
  for (const port of group.ins.values()) add(port, 10, 0);
  for (const child of group.children) add(child, child.width, child.height);
  for (const port of group.outs.values()) add(port, 10, 0);
  return { vertices, of };
};

/** The longest way from above; what nothing leads to stands right above whoever uses it. */
const rankAll = (group, vertices, of) => {
  const links = [...group.links.values()].map(({ from, to }) => [of.get(from), of.get(to)]);
  const below = new Map(vertices.map(vertex => [vertex, []])), fed = new Set();
  for (const [from, to] of links) { below.get(from).push(to); fed.add(to); }
  const first = group.ins.size ? 1 : 0;
  for (const vertex of vertices) if (!vertex.end.port) vertex.rank = Math.max(vertex.rank, first);
  // Items lie in the graph's order, which no value runs against.
  for (const vertex of vertices) for (const to of below.get(vertex)) to.rank = Math.max(to.rank, vertex.rank + 1);
  const deepest = vertices.reduce((most, vertex) => Math.max(most, vertex.end.port === "out" ? vertex.rank - 1 : vertex.rank), 0);
  for (let index = vertices.length - 1; index >= 0; index--) {
    const vertex = vertices[index];
    if (vertex.end.port === "out") vertex.rank = deepest + 1;
    else if (!vertex.end.port && !fed.has(vertex) && below.get(vertex).length) {
      vertex.rank = Math.max(first, Math.min(...below.get(vertex).map(to => to.rank)) - 1);
    }
  }
};

/** Values on their way: a chain of passing vertices per value and source, which its targets branch off from. */
const makeChains = (group, vertices, of) => {
  const wires = [], chains = new Map();
  const join = (from, to, value) => {
    const wire = { from, to, value };
    from.down.push(wire);
    to.up.push(wire);
    wires.push(wire);
  };
  for (const { from, to, value } of group.links.values()) {
    const source = of.get(from), target = of.get(to);
    let chain = chains.get(source)?.get(value);
    if (!chain) {
      chain = [source];
      if (!chains.has(source)) chains.set(source, new Map());
      chains.get(source).set(value, chain);
    }
    while (source.rank + chain.length < target.rank) {
      const passing = { end: null, width: 6, height: 0, rank: source.rank + chain.length, up: [], down: [], x: 0 };
      vertices.push(passing);
      join(chain.at(-1), passing, value);
      chain.push(passing);
    }
    join(chain[target.rank - source.rank - 1], target, value);
  }
  return wires;
};

const makeRanks = vertices => {
  const ranks = [];
  for (const vertex of vertices) (ranks[vertex.rank] ??= []).push(vertex);
  for (let rank = 0; rank < ranks.length; rank++) ranks[rank] ??= [];
  ranks.forEach(rank => rank.forEach((vertex, place) => { vertex.place = place; }));
  return ranks;
};

/** How often wires between a rank and the next cross: pairs in the wrong order, counted by a tree of sums. */
const crossings = (upper, size) => {
  const ends = upper.flatMap(vertex => vertex.down.map(wire => wire.to.place).sort((a, b) => a - b));
  const tree = new Int32Array(size + 1);
  let crossed = 0;
  ends.forEach((place, seen) => {
    let before = 0;
    for (let at = place + 1; at > 0; at -= at & -at) before += tree[at];
    crossed += seen - before;
    for (let at = place + 1; at <= size; at += at & -at) tree[at]++;
  });
  return crossed;
};
const allCrossings = ranks => ranks.reduce((sum, rank, index) => index + 1 < ranks.length ? sum + crossings(rank, ranks[index + 1].length) : sum, 0);

/** Sorts ranks by the middle of their neighbours, down and up in turn, and keeps the order with the fewest crossings. */
const orderAll = (ranks, sweeps) => {
  const middle = (vertex, wires, end) => wires.length ? wires.reduce((sum, wire) => sum + wire[end].place, 0) / wires.length : vertex.place;
  const sort = (rank, side, end) => {
    const at = new Map(rank.map(vertex => [vertex, middle(vertex, vertex[side], end)]));
    rank.sort((a, b) => at.get(a) - at.get(b) || a.place - b.place);
    rank.forEach((vertex, place) => { vertex.place = place; });
  };
  let best = null, least = Infinity;
  for (let sweep = 0; sweep < sweeps && least > 0; sweep++) {
    if (sweep % 2 === 0) for (let rank = 1; rank < ranks.length; rank++) sort(ranks[rank], "up", "from");
    else for (let rank = ranks.length - 2; rank >= 0; rank--) sort(ranks[rank], "down", "to");
    const crossed = allCrossings(ranks);
    if (crossed < least) { least = crossed; best = ranks.map(rank => [...rank]); }
  }
  best?.forEach((rank, index) => { ranks[index] = rank; rank.forEach((vertex, place) => { vertex.place = place; }); });
};
