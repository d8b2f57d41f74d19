// Which values run inside of each open group: from item to item, in through its upper edge, out through its lower one.

/** Fills `group.links` of every open group: [{from, to, value}], where an end is an item, or a port {port, value}. */
const makeLinks = (graph, of, root) => {
  const clear = group => {
    Object.assign(group, { links: new Map(), ins: new Map(), outs: new Map() });
    group.children.forEach(child => { if (child.kind === "group" && child.open) clear(child); });
  };
  clear(root);
  const add = (group, from, to, value) => {
    const side = end => end.port ? end.port : end.kind === "group" ? `g${end.number}` : `n${end.first}`;
    const key = `${value} ${side(from)} ${side(to)}`;
    if (!group.links.has(key)) group.links.set(key, { from, to, value });
  };
  const port = (ports, side, value) => {
    if (!ports.has(value)) ports.set(value, { port: side, value });
    return ports.get(value);
  };
  for (const node of graph.nodes) {
    const from = shownFor(of[node.index]);
    for (const user of node.users) {
      const to = shownFor(of[user]);
      if (from === to) continue;
      const above = new Set();
      for (let group = from.parent; group; group = group.parent) above.add(group);
      let target = to;
      while (!above.has(target.parent)) {
        add(target.parent, port(target.parent.ins, "in", node.index), target, node.index);
        target = target.parent;
      }
      const common = target.parent;
      let source = from;
      while (source.parent !== common) {
        add(source.parent, source, port(source.parent.outs, "out", node.index), node.index);
        source = source.parent;
      }
      add(common, source, target, node.index);
    }
  }
};
