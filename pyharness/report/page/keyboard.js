// Listens to the keyboard: a page's table of keys, its search field, and the list to look them up in.
const byKey = new Map(KEYS.flatMap(([keys, , action]) => keys.map(key => [key, action])));
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
  if (event.target === field) {
    if (event.key === "Enter") nextHit(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") { clear(); canvas.focus(); }
    return;
  }
  if (event.target === chooser) return;
  const action = byKey.get(event.key);
  if (action) {
    event.preventDefault();
    action(event.key);
  }
});

const listKeys = () => {
  const keys = KEYS.map(([names, what]) => [element("dt", {}, names.map(name => [element("kbd", {}, name), " "])), element("dd", {}, what)]);
  const mouse = MOUSE.map(([how, what]) => [element("dt", {}, how), element("dd", {}, what)]);
  document.getElementById("key-list").append(...keys.flat(), ...mouse.flat());
};
