// The lanes: only what is in sight is looked at, and what is narrower than a pixel shares it with its neighbours.
const pen = canvas.getContext("2d");
const FONT = '11px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const INK = "#14181d"; // on the colours of the palette, in both themes
let theme = {};

const readTheme = () => {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["page", "panel", "line", "text", "faint", "accent", "band", "band-text", "task", "shade", "outline", "forward", "backward"]) {
    theme[name] = style.getPropertyValue(`--${name}`).trim();
  }
};

const widths = new Map();
const widthOf = text => {
  let width = widths.get(text);
  if (width === undefined) widths.set(text, width = pen.measureText(text).width);
  return width;
};
/** `mul.Tensor` of `aten::mul.Tensor`, `SwiGlu` of `torch::autograd::CppNode<ops::SwiGlu>`. */
const shortName = name => name.includes("::") ? /[^:<>]+(?=>*$)/.exec(name)?.[0] ?? name : name;
/** The text, or what of it fits: without its namespace, then its beginning; nothing where too little would be left. */
const fitting = (text, room) => {
  if (widthOf(text) <= room) return text;
  const short = shortName(text);
  if (widthOf(short) <= room) return short;
  let letters = Math.floor(short.length * room / widthOf(short));
  while (letters >= 3 && widthOf(`${short.slice(0, letters)}…`) > room) letters--;
  return letters >= 3 ? `${short.slice(0, letters)}…` : "";
};

const DIM = 0.16, TINT = 0.4; // how much of a colour is seen: of what is not looked for, of a module's stretch
const isDim = event =>
  state.hits !== null && !state.hits[event] || colouring.isolated !== null && colouring.groupOf[event] !== colouring.isolated;
const bandAlpha = span => {
  const group = colouring.ofModule(trace.modules[span[1]]);
  return group === undefined ? 1 : colouring.isolated !== null && colouring.groups[colouring.isolated] !== group ? DIM : TINT;
};

const LOOKS = {
  event: { fill: eventColour, text: nameOf, ink: () => INK, alpha: event => isDim(event) ? DIM : 1 },
  band: { fill: span => colouring.ofModule(trace.modules[span[1]])?.colour ?? theme.band, text: span => bandText(trace.modules[span[1]]), ink: () => theme["band-text"], alpha: bandAlpha },
  task: { fill: () => theme.task, text: task => taskText(task), ink: () => theme.text, alpha: () => 1 },
};
const bandText = module => /(^|\.)[^.]*(\.\d+)?$/.exec(module)[0].replace(/^\./, "");
const taskText = task => {
  const origin = originOf(task[6]);
  return `${task[1] || "engine"}${origin ? ` · ${origin.place}` : ""}`;
};

const drawRow = row => {
  const top = row.y - view.top + RULER;
  if (top > view.height || top + row.height < RULER) return;
  const look = LOOKS[row.kind], end = view.start + view.span, height = row.height - 2;
  for (let number = row.find(view.start); number < row.items.length;) {
    const item = row.items[number], start = row.startOf(item);
    if (start >= end) break;
    const left = Math.max(toX(start), -2), width = Math.min(toX(row.endOf(item)), view.width + 2) - left;
    pen.globalAlpha = look.alpha(item);
    pen.fillStyle = look.fill(item);
    if (width < 1.5) {
      const pixel = Math.floor(left);
      pen.fillRect(pixel, top, 1, height);
      number = Math.max(number + 1, row.find(toTime(pixel + 1))); // the others of this pixel: not seen
      continue;
    }
    pen.fillRect(left, top, Math.max(width - 0.7, 1), height);
    if (width > 26) label(row, item, Math.max(left, 0), width - Math.max(-left, 0), top + height / 2);
    number++;
  }
  pen.globalAlpha = 1;
};
const label = (row, item, left, room, middle) => {
  const look = LOOKS[row.kind];
  const text = fitting(look.text(item), room - 8);
  if (!text) return;
  pen.fillStyle = look.ink(item);
  if (row.kind === "band") pen.globalAlpha = 1; // its tint is not its text's
  pen.fillText(text, left + 4, middle + 0.5);
};

const drawHead = ({ lane, top, bottom }) => {
  const y = top - view.top + RULER;
  if (y > view.height || bottom - view.top + RULER < RULER) return;
  pen.fillStyle = theme.shade;
  pen.fillRect(0, y, view.width, HEAD - 3);
  pen.fillStyle = lane.backward ? theme.backward : theme.forward;
  pen.fillRect(0, y, 4, bottom - top);
  pen.font = `600 ${FONT}`;
  const half = lane.backward ? "backward" : "forward";
  pen.fillText(half, 10, y + (HEAD - 3) / 2);
  const room = pen.measureText(half).width;
  pen.font = FONT;
  pen.fillStyle = theme.faint;
  pen.fillText(lane.name ? `${lane.name} · ${lane.thread}` : `thread ${lane.thread}`, 18 + room, y + (HEAD - 3) / 2);
};

const outline = (event, colour, width) => {
  const row = layout.rowOf(event), left = toX(starts[event]), top = row.y - view.top + RULER;
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.strokeRect(left - 0.5, top - 0.5, Math.max(toX(ends[event]) - left, 2) + 0.5, ROW - 1.5);
};
/** An arrow from an op to the node that it made. */
const arrow = (op, node) => {
  const x0 = toX((starts[op] + ends[op]) / 2), y0 = layout.rowOf(op).y - view.top + RULER + ROW - 2;
  const x1 = toX((starts[node] + ends[node]) / 2), y1 = layout.rowOf(node).y - view.top + RULER - 1;
  const bend = Math.max(24, Math.abs(y1 - y0) / 2);
  pen.strokeStyle = pen.fillStyle = theme.accent;
  pen.lineWidth = 1.6;
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.bezierCurveTo(x0, y0 + bend, x1, y1 - bend, x1, y1 - 5);
  pen.stroke();
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x1 - 4, y1 - 7);
  pen.lineTo(x1 + 4, y1 - 7);
  pen.fill();
};
const drawMarked = () => {
  const pointed = state.hovered?.kind === "event" ? state.hovered.item : -1;
  for (const event of new Set([state.selected, pointed])) {
    if (event < 0) continue;
    for (const partner of partnersOf(event)) {
      outline(partner, theme.accent, 2);
      if (makers[event] >= 0) arrow(partner, event); else arrow(event, partner);
    }
    outline(event, theme.outline, event === state.selected ? 2.5 : 1.5);
  }
};

/** The round step that puts ticks about 110 pixels apart. */
const tickStep = () => {
  const rough = view.span / view.width * 110, power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find(factor => factor * power >= rough);
};
const ticks = step => {
  const times = [];
  for (let number = Math.max(0, Math.ceil(view.start / step)); number * step < view.start + view.span; number++) times.push(number * step);
  return times;
};
const drawRuler = step => {
  pen.fillStyle = theme.panel;
  pen.fillRect(0, 0, view.width, RULER);
  pen.fillStyle = theme.faint;
  for (const time of ticks(step)) {
    pen.fillText(timeText(time, step), toX(time) + 4, RULER / 2);
    pen.fillRect(toX(time), RULER - 8, 1, 8);
  }
  pen.fillStyle = theme.line;
  pen.fillRect(0, RULER - 1, view.width, 1);
};
const drawGrid = step => {
  pen.fillStyle = theme.line;
  pen.globalAlpha = 0.45;
  for (const time of ticks(step)) {
    pen.fillRect(toX(time), RULER, 1, view.height);
  }
  pen.globalAlpha = 1;
};

/** At the right edge, which part of all lanes is in sight. */
const drawScroll = () => {
  const room = view.height - RULER, whole = layout.height;
  if (whole <= room) return;
  pen.fillStyle = theme.faint;
  pen.globalAlpha = 0.55;
  pen.fillRect(view.width - 6, RULER + view.top / whole * room, 5, room / whole * room);
  pen.globalAlpha = 1;
};

const drawLanes = () => {
  const box = fit(canvas, pen);
  view.width = Math.max(box.width, 1);
  view.height = Math.max(box.height, 1);
  pen.fillStyle = theme.page;
  pen.fillRect(0, 0, view.width, view.height);
  pen.font = FONT;
  pen.textBaseline = "middle";
  const step = tickStep();
  drawGrid(step);
  layout.lanes.forEach(drawHead);
  layout.rows.forEach(drawRow);
  drawMarked();
  drawRuler(step);
  drawScroll();
};
const drawAll = () => { drawLanes(); drawOverview(); };
