// The keyboard: everything that the mouse can do.
const dialog = document.getElementById("keys");
const canvas = treeRoot, chooser = null;

const clear = () => { field.value = ""; search(); for (const each of nodes) each.made.classList.remove("selected"); showNothing(); };
const neighbour = step => {
  const at = nodes.findIndex(each => each.made.classList.contains("selected"));
  const order = [...treeRoot.querySelectorAll("details")];
  const from = at < 0 ? -1 : order.indexOf(nodes[at].made);
  const next = order[Math.min(order.length - 1, Math.max(0, from + step))];
  select(nodes.find(each => each.made === next).node);
  next.scrollIntoView({ block: "nearest" });
};
// [keys, what they do, the function]
const KEYS = [
  [["ArrowDown", "ArrowUp"], "the next line, the line before", key => neighbour(key === "ArrowDown" ? 1 : -1)],
  [["e", "c"], "open all, close all", key => openAll(key === "e")],
  [["/"], "search", () => field.focus()],
  [["n", "N"], "the next hit, the hit before", key => nextHit(key === "n" ? 1 : -1)],
  [["Escape"], "clear selection and search", clear],
  [["t"], "dark or light", toggleTheme],
  [["?"], "this list", () => dialog.showModal()],
];
const MOUSE = [
  ["click", "on a line: fold it, and show the threads of its ranks"],
  ["hover", "over a cell: the call"],
];
