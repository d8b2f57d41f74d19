// The mouse: point to see, click to keep, drag to move, wheel to zoom.
const FAR = 4; // pixels that tell a drag from a click

/** What is drawn at a point: {kind, item}, or null. */
const at = (x, y) => {
  if (y < RULER) return null;
  const height = y - RULER + view.top;
  const row = layout.rows.find(each => height >= each.y && height < each.y + each.height);
  if (!row) return null;
  const near = toTime(x + 2) - toTime(x), time = toTime(x);
  const number = row.find(time - near), item = row.items[number];
  if (item === undefined || row.startOf(item) > time + near) return null;
  const next = row.items[number + 1]; // under the pointer rather than near it
  const better = next !== undefined && row.startOf(next) <= time && row.endOf(item) < time;
  return { kind: row.kind, item: better ? next : item };
};
const hover = (what, x = 0, y = 0) => {
  const same = what?.item === state.hovered?.item && what?.kind === state.hovered?.kind;
  state.hovered = what;
  canvas.classList.toggle("over", what !== null);
  showTip(x, y);
  if (!same) changed();
};

let drag = null;
canvas.addEventListener("pointerdown", event => {
  if (event.button !== 0) return;
  drag = { x: event.offsetX, y: event.offsetY, moved: false };
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointermove", event => {
  if (!drag) {
    hover(at(event.offsetX, event.offsetY), event.clientX, event.clientY);
    return;
  }
  const x = event.offsetX - drag.x, y = event.offsetY - drag.y;
  if (!drag.moved && Math.hypot(x, y) < FAR) return;
  drag = { x: event.offsetX, y: event.offsetY, moved: true };
  canvas.classList.add("dragged");
  hover(null);
  pan(-x, -y);
});
const endDrag = event => {
  canvas.classList.remove("dragged");
  if (drag && !drag.moved && event.type === "pointerup") clicked(at(event.offsetX, event.offsetY));
  drag = null;
};
const clicked = what => {
  if (what?.kind === "event") select(what.item);
  else if (what) show(...EXTENT[what.kind](what.item));
  else select(-1);
};
const around = (start, length) => [start - length * 0.05, length * 1.1];
const EXTENT = { task: task => around(task[3], task[4]), band: span => around(span[2], span[3]) };
canvas.addEventListener("pointerup", endDrag);
canvas.addEventListener("pointercancel", endDrag);
canvas.addEventListener("pointerleave", () => hover(null));
canvas.addEventListener("dblclick", event => {
  const what = at(event.offsetX, event.offsetY);
  if (what?.kind === "event") zoomTo(what.item); else showAll();
});
canvas.addEventListener("wheel", event => {
  event.preventDefault();
  const unit = event.deltaMode === 1 ? 16 : 1;
  if (event.shiftKey) pan(0, (event.deltaY || event.deltaX) * unit);
  else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(event.deltaX * unit);
  else zoom(Math.exp(clamp(event.deltaY * unit, -300, 300) * 0.0025), event.offsetX);
  hover(at(event.offsetX, event.offsetY), event.clientX, event.clientY);
}, { passive: false });

const centre = event => show(overviewTime(event.offsetX) - view.span / 2, view.span);
overview.addEventListener("pointerdown", event => { overview.setPointerCapture(event.pointerId); centre(event); });
overview.addEventListener("pointermove", event => { if (event.buttons & 1) centre(event); });
overview.addEventListener("wheel", event => {
  event.preventDefault();
  zoom(Math.exp(clamp(event.deltaY, -300, 300) * 0.0025));
}, { passive: false });
