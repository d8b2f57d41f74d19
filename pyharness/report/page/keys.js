// The keyboard: everything that the mouse can do.
const dialog = document.getElementById("keys");
const STEP = 0.15; // of the width

/** The next event in its row, or the one before; the first in sight where none is selected. */
const neighbour = step => {
  if (state.selected < 0) {
    const row = layout.rows.find(each => each.kind === "event");
    if (row) select(row.items[Math.min(row.find(view.start), row.items.length - 1)]);
    return;
  }
  const { items } = layout.rowOf(state.selected);
  const next = items[items.indexOf(state.selected) + step];
  if (next !== undefined) select(next);
};
const partner = () => { const [first] = partnersOf(state.selected); if (first !== undefined) select(first); };
const outer = () => { if (state.selected >= 0 && parents[state.selected] >= 0) select(parents[state.selected]); };
const clear = () => {
  field.value = "";
  search();
  select(-1);
  if (colouring.isolated !== null) { colouring.isolated = null; drawLegend(); }
};

// [keys, what they do, the function]
const KEYS = [
  [["w", "+", "="], "zoom in", () => zoom(0.6)],
  [["s", "-"], "zoom out", () => zoom(1 / 0.6)],
  [["a", "ArrowLeft"], "move left", () => pan(-STEP * view.width)],
  [["d", "ArrowRight"], "move right", () => pan(STEP * view.width)],
  [["ArrowUp"], "move up", () => pan(0, -60)],
  [["ArrowDown"], "move down", () => pan(0, 60)],
  [["0", "Home"], "show everything", showAll],
  [["[", "]"], "the event before, the next one, in its row", key => neighbour(key === "]" ? 1 : -1)],
  [["p"], "the other half: from op to node, from node to op", partner],
  [["o"], "the event that it ran in", outer],
  [["f"], "zoom to the selected event", () => { if (state.selected >= 0) zoomTo(state.selected); }],
  [["/"], "search", () => field.focus()],
  [["n", "N"], "the next hit, the hit before", key => nextHit(key === "n" ? 1 : -1)],
  [["Escape"], "clear selection, search and filter", clear],
  [["t"], "dark or light", toggleTheme],
  [["?"], "this list", () => dialog.showModal()],
];
const MOUSE = [
  ["point", "line, module, shapes, duration"],
  ["click", "keep in the panel, show the other half; on a module or a backward pass: zoom to it"],
  ["double click", "zoom to the event; elsewhere: show everything"],
  ["drag, wheel", "move, zoom at the pointer"],
  ["shift + wheel", "scroll"],
];
