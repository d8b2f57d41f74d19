// Choosing: a node, a group to open or close, another graph.

/** Opens the groups around a node, so that it can be seen; whether that changed anything. */
const uncover = index => {
  let changed = false;
  for (let group = state.of[index].parent; group; group = group.parent) {
    if (!group.open) changed = group.open = true;
  }
  return changed;
};
const select = (index, options = {}) => {
  state.selected = index;
  if (index !== null && uncover(index)) redraw(); else mark();
  drawDetails();
  if (index !== null && !options.still) reveal(state.of[index]);
};
const itemOf = box => {
  let found = null;
  eachGroup(state.root, group => { if (group.number === Number(box.dataset.group)) found = group; });
  return found;
};
/** What is under the pointer keeps its place on the screen. */
const toggleGroup = group => {
  const x = group.left * view.scale + view.x, y = group.over * view.scale + view.y;
  group.open = !group.open;
  redraw();
  Object.assign(view, { x: x - group.left * view.scale, y: y - group.over * view.scale });
  moved();
};
const openAll = open => {
  eachGroup(state.root, group => { group.open = open; });
  redraw();
  showTop();
};
const chooser = document.getElementById("graphs");
const showGraph = number => {
  const graph = graphs[number];
  Object.assign(state, { graph: number, ...makeGroups(graph), selected: null, hits: [], hit: -1 });
  openEnough(state.root);
  document.getElementById("summary").textContent = [graph.maker, countText(graph.nodes.length, "node"), graph.kernels ? countText(graph.kernels.length, "call") + " of kernels" : "", graph.file].filter(Boolean).join(" · ");
  redraw();
  drawDetails();
  drawLegend();
  showTop();
  search();
};
