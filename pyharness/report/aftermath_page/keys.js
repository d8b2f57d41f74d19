// The keyboard: everything that the mouse can do.
const dialog = document.getElementById("keys");
const canvas = root, chooser = null;
const machinery = document.getElementById("machinery");

const showMachinery = all => {
  root.classList.toggle("all", all);
  machinery.setAttribute("aria-pressed", String(all));
};
const toggleMachinery = () => showMachinery(!root.classList.contains("all"));
const openAll = open => { for (const each of root.querySelectorAll("details")) each.open = open; };
const clear = () => { field.value = ""; search(); for (const each of frames) each.made.classList.remove("selected"); showTraceback(); };
const neighbour = step => {
  const order = shown();
  if (!order.length) return;
  const from = order.findIndex(({ made }) => made.classList.contains("selected"));
  const next = order[Math.min(order.length - 1, Math.max(0, from + step))];
  select(next);
  next.made.scrollIntoView({ block: "nearest" });
};
// [keys, what they do, the function]
const KEYS = [
  [["ArrowDown", "ArrowUp"], "the next frame, the frame before", key => neighbour(key === "ArrowDown" ? 1 : -1)],
  [["m"], "show or fold machinery: interpreter, torch, bindings", toggleMachinery],
  [["e", "c"], "open all threads, close all", key => openAll(key === "e")],
  [["/"], "search", () => field.focus()],
  [["n", "N"], "the next hit, the hit before", key => nextHit(key === "n" ? 1 : -1)],
  [["Escape"], "clear selection and search", clear],
  [["t"], "dark or light", toggleTheme],
  [["?"], "this list", () => dialog.showModal()],
];
const MOUSE = [["click", "on a frame: its source and its variables"]];
machinery.addEventListener("click", toggleMachinery);
