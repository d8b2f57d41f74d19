// The keyboard: everything that the mouse can do.
const dialog = document.getElementById("keys");
const STEP = 80;

const neighbour = step => {
  const last = graphs[state.graph].nodes.length - 1;
  if (last >= 0) select(state.selected === null ? 0 : clamp(state.selected + step, 0, last));
};
const along = side => {
  const [other] = state.selected === null ? [] : graphs[state.graph].nodes[state.selected][side];
  if (other !== undefined) select(other);
};
const closeAround = () => {
  const group = state.selected === null ? null : state.of[state.selected].parent;
  if (group?.parent) { const index = state.selected; toggleGroup(group); state.selected = index; mark(); reveal(group); }
};
const clear = () => { field.value = ""; search(); select(null); };
// [keys, what they do, the function]
const KEYS = [
  [["+", "="], "zoom in", () => zoom(1.25)],
  [["-"], "zoom out", () => zoom(0.8)],
  [["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"], "move", key => pan({ ArrowLeft: -STEP, ArrowRight: STEP }[key] || 0, { ArrowUp: -STEP, ArrowDown: STEP }[key] || 0)],
  [["0"], "show everything", showAll],
  [["Home"], "the first nodes", () => { showTop(); }],
  [["[", "]"], "the node before, the next one, as the code runs", key => neighbour(key === "]" ? 1 : -1)],
  [["i", "u"], "its first input, its first user", key => along(key === "i" ? "inputs" : "users")],
  [["f"], "bring the selected node into sight", () => { if (state.selected !== null) select(state.selected); }],
  [["x"], "close the group around the selected node", closeAround],
  [["e", "c"], "open all groups, close all", key => openAll(key === "e")],
  [["/"], "search", () => field.focus()],
  [["n", "N"], "the next hit, the hit before", key => nextHit(key === "n" ? 1 : -1)],
  [["Escape"], "clear selection and search", clear],
  [["t"], "dark or light", toggleTheme],
  [["?"], "this list", () => dialog.showModal()],
];
const MOUSE = [
  ["click", "on a node: all of it; on a group's name: close or open it"],
  ["double click", "on the paper: show everything"],
  ["drag, wheel", "move, zoom at the pointer"],
];
