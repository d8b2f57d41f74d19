// The mouse: click to select, drag to move, wheel to zoom.
const APART = 4; // pixels that tell a drag from a click
let drag = null;

canvas.addEventListener("pointerdown", event => {
  if (event.button !== 0) return;
  drag = { x: event.clientX, y: event.clientY, moved: false, on: event.target };
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointermove", event => {
  if (!drag) return;
  const x = event.clientX - drag.x, y = event.clientY - drag.y;
  if (!drag.moved && Math.hypot(x, y) < APART) return;
  Object.assign(drag, { x: event.clientX, y: event.clientY, moved: true });
  canvas.classList.add("dragged");
  pan(-x, -y);
});
const clicked = target => {
  const node = target.closest("[data-node]"), closed = target.closest(".closed"), handle = target.closest(".handle");
  if (node) select(Number(node.dataset.node), { still: true });
  else if (closed) toggleGroup(itemOf(closed));
  else if (handle) toggleGroup(itemOf(handle.parentElement));
  else select(null);
};
const endDrag = event => {
  canvas.classList.remove("dragged");
  if (drag && !drag.moved && event.type === "pointerup") clicked(drag.on);
  drag = null;
};
canvas.addEventListener("pointerup", endDrag);
canvas.addEventListener("pointercancel", endDrag);
canvas.addEventListener("dblclick", event => { if (event.target === canvas) showAll(); });
canvas.addEventListener("wheel", event => {
  event.preventDefault();
  const unit = event.deltaMode === 1 ? 16 : 1, box = stage();
  if (event.shiftKey) pan((event.deltaX || event.deltaY) * unit, 0);
  else zoom(Math.exp(-clamp(event.deltaY * unit, -300, 300) * 0.002), event.clientX - box.left, event.clientY - box.top);
}, { passive: false });
