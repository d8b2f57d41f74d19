// Puts the laid out groups, wires and nodes into the page.
const shape = (tag, attributes, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};
const round = value => Math.round(value * 10) / 10;

/** What is drawn, by node, group and value; in the document is only what is in sight. */
const drawn = { nodes: new Map(), closed: new Map(), from: new Map(), to: new Map() };
const put = (map, key, element) => { if (map.has(key)) map.get(key).push(element); else map.set(key, [element]); };

const drawNode = (item, into) => {
  const { node, width, height } = item, { title, op, line, below } = node.words;
  const element = shape("g", { class: "node", "data-node": node.index, transform: `translate(${round(item.left)} ${round(item.over)})` },
    shape("rect", { class: "box", width: round(width), height, rx: 6 }),
    shape("rect", { class: "bar", width: 5, height, rx: 2, fill: `var(--${op})` }));
  const small = [
    shape("text", { class: "faint", x: round(width - 9), y: 17, "text-anchor": "end" }, op),
    shape("text", { class: "line", x: 14, y: 35 }, line),
  ];
  if (below) small.push(shape("text", { class: "faint", x: 14, y: 53 }, below));
  const head = shape("text", { class: "title", x: 14, y: 17, style: `--fit: ${round((width - 22) / title.length / 0.64)}px` }, title);
  drawn.nodes.set(node.index, element);
  known(element, into, item.left, item.over, item.left + width, item.over + height, [[head], small]);
};
const drawClosed = (item, into) => {
  const element = shape("g", { class: "closed", "data-group": item.number, transform: `translate(${round(item.left)} ${round(item.over)})` },
    shape("rect", { class: "box", width: round(item.width), height: item.height, rx: 8 }),
    shape("text", { class: "label", x: 14, y: 20 }, `▸ ${nameOf(item)}`));
  const small = shape("text", { class: "faint", x: 14, y: 38 }, countText(item.count, "node"));
  drawn.closed.set(item.number, element);
  known(element, into, item.left, item.over, item.left + item.width, item.over + item.height, [[], [small]]);
};
const drawWires = (group, into) => {
  for (const { last, path, top } of pathsOf(group)) {
    const { end } = last.to, ends = end.kind === "node" || end.kind === "group" && !end.open;
    const element = shape("path", { class: ends ? "edge ends" : "edge", d: path });
    put(drawn.from, last.value, element);
    if (end.kind === "node") put(drawn.to, end.node.index, element);
    known(element, into, group.left, top + group.over, group.left + group.width, Math.max(last.to.bottom, last.to.y) + group.over);
  }
};
/** A frame with a name to click; wires below items, so that no order of coming into sight can show. */
const drawGroup = (group, into) => {
  const inside = shape("g", { class: "group", "data-group": group.number });
  if (group.parent) {
    inside.append(shape("rect", { class: "frame", x: round(group.left), y: round(group.over), width: round(group.width), height: round(group.height), rx: 9 }));
    inside.append(shape("g", { class: "handle" },
      shape("rect", { x: round(group.left), y: round(group.over), width: round(group.width), height: HEAD, fill: "transparent" }),
      shape("text", { class: "label", x: round(group.left + 10), y: round(group.over + 16) }, `▾ ${nameOf(group)}`),
      ...(group.file ? [shape("text", { class: "faint", x: round(group.left + group.width - 10), y: round(group.over + 16), "text-anchor": "end" }, shortFile(group.file))] : []),
      ...(group.file ? [shape("title", {}, `${group.path}\n${group.file}`)] : [])));
  }
  const wires = shape("g", {}), items = shape("g", {});
  inside.append(wires, items);
  known(inside, into, group.left, group.over, group.left + group.width, group.over + group.height);
  drawWires(group, wires);
  for (const child of group.children) {
    if (child.kind === "node") drawNode(child, items);
    else if (child.open) drawGroup(child, items);
    else drawClosed(child, items);
  }
};

/** Lays out and draws the chosen graph as its groups are open now. */
const redraw = () => {
  const graph = graphs[state.graph];
  makeLinks(graph, state.of, state.root);
  layoutGroup(state.root);
  settle(state.root, 0, 0);
  world.replaceChildren();
  painted = [];
  Object.values(drawn).forEach(map => map.clear());
  drawGroup(state.root, world);
  drawMap();
  cull(true);
  mark();
};
/** Shows what is selected, what it is linked with, and what was searched for. */
let marked = [];
const mark = () => {
  for (const element of marked) element.classList.remove("selected", "near", "hit");
  marked = [];
  const give = (element, name) => { if (element) { element.classList.add(name); marked.push(element); } };
  const boxOf = index => {
    const item = shownFor(state.of[index]);
    return item.kind === "node" ? drawn.nodes.get(index) : drawn.closed.get(item.number);
  };
  canvas.classList.toggle("searched", state.hits.length > 0);
  for (const index of state.hits) give(boxOf(index), "hit");
  if (state.selected === null) return;
  const { index, inputs, users } = graphs[state.graph].nodes[state.selected];
  give(boxOf(index), "selected");
  for (const other of [...inputs, ...users]) give(boxOf(other), "near");
  for (const path of [...drawn.from.get(index) || [], ...drawn.to.get(index) || []]) give(path, "near");
};
