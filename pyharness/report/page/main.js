// Starts the page.
const toggle = document.getElementById("theme");
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

const themed = () => {
  toggle.textContent = document.documentElement.dataset.theme === "dark" ? "☀" : "☾";
  readTheme();
  changed();
};
const followSystem = () => {
  document.documentElement.dataset.theme = prefersDark.matches ? "dark" : "light";
  themed();
};

const nodes = columns.kind.reduce((sum, kind) => sum + kind, 0);
const passes = trace.lanes.reduce((sum, lane) => sum + lane.tasks.length, 0);
document.getElementById("program").textContent = trace.program || "recording";
document.getElementById("summary").textContent = [
  countText(count - nodes, "op"), countText(nodes, "autograd node"), countText(passes, "backward pass", "backward passes"), durationText(traceEnd),
].join(" · ");
if (trace.lost) {
  const lost = document.getElementById("lost");
  lost.textContent = `${countText(trace.lost, "event")} lost: a thread had more than its buffer holds; the first are missing.`;
  lost.hidden = false;
}

listKeys();
startColouring();
followSystem();
showAll();
toggle.addEventListener("click", toggleTheme);
document.getElementById("help").addEventListener("click", () => dialog.showModal());
prefersDark.addEventListener("change", followSystem);
new ResizeObserver(() => show(view.start, view.span)).observe(document.getElementById("stage"));
