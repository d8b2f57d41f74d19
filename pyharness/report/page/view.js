// What part of the trace is seen, and what is pointed at; a change is drawn with the next frame.
const overview = document.getElementById("overview");
const canvas = document.getElementById("lanes");
const view = { start: 0, span: traceEnd, top: 0, width: 1, height: 1 };
const state = { selected: -1, hovered: null, hits: null, hit: -1 };
const LEAST = 50; // ns across the whole width
const MARGIN = 0.02;

const toX = time => (time - view.start) / view.span * view.width;
const toTime = x => view.start + x / view.width * view.span;
const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

let pending = false;
const changed = () => {
  if (pending) return;
  pending = true;
  requestAnimationFrame(() => { pending = false; drawAll(); });
};

const show = (start, span, top = view.top) => {
  const margin = MARGIN * traceEnd;
  view.span = clamp(span, LEAST, traceEnd + 2 * margin);
  view.start = clamp(start, -margin, traceEnd + margin - view.span);
  view.top = clamp(top, 0, Math.max(0, layout.height + RULER - view.height));
  changed();
};
const zoom = (factor, x = view.width / 2) => {
  const at = toTime(x), span = clamp(view.span * factor, LEAST, traceEnd * (1 + 2 * MARGIN));
  show(at - x / view.width * span, span);
};
const pan = (x, y = 0) => show(view.start + x / view.width * view.span, view.span, view.top + y);
const showAll = () => show(-MARGIN * traceEnd, traceEnd * (1 + 2 * MARGIN), 0);

/** Bring an event into sight: where it is too narrow to be seen, nearer; where it is too wide, farther. */
const reveal = event => {
  const row = layout.rowOf(event), length = Math.max(ends[event] - starts[event], 1);
  const width = length / view.span * view.width;
  const span = width < 6 ? length * view.width / 60 : width > view.width * 0.9 ? length * 2 : view.span;
  const middle = (starts[event] + ends[event]) / 2;
  const seen = middle > view.start && middle < view.start + view.span && span === view.span;
  const above = row.y - view.top < 0, below = row.y + ROW + RULER - view.top > view.height;
  show(seen ? view.start : middle - span / 2, span, above || below ? row.y - view.height / 2 : view.top);
};
/** Make an event fill a good part of the width. */
const zoomTo = event => {
  const length = Math.max(ends[event] - starts[event], 1);
  reveal(event);
  show(starts[event] - length, length * 3);
};

const fit = (target, context) => {
  const scale = window.devicePixelRatio || 1, box = target.getBoundingClientRect();
  target.width = Math.round(box.width * scale);
  target.height = Math.round(box.height * scale);
  context.setTransform(scale, 0, 0, scale, 0, 0);
  return box;
};
