// Starts the page.
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
followTheme(() => { readTheme(); changed(); });
showAll();
document.getElementById("help").addEventListener("click", () => dialog.showModal());
new ResizeObserver(() => show(view.start, view.span)).observe(document.getElementById("stage"));
