// Which graph is shown, which part of it, and what is selected.
const canvas = document.getElementById("drawing");
const world = document.getElementById("world");
const view = { x: 0, y: 0, scale: 1 };
const state = { graph: 0, root: null, of: [], selected: null, hits: [], hit: -1 };
const LEAST = 0.002, LARGEST = 4, FAR = 0.5, FARTHER = 0.16;

let lettering = 0;
const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
const stage = () => canvas.getBoundingClientRect();
const apply = () => {
  world.setAttribute("transform", `translate(${view.x.toFixed(2)} ${view.y.toFixed(2)}) scale(${view.scale.toFixed(5)})`);
  const large = view.scale < FAR ? clamp(Math.round(5.5 / view.scale) * 2, 12, 56) : 12;
  if (large !== lettering) canvas.style.setProperty("--large", `${lettering = large}px`); // all that is drawn is looked at again
  canvas.classList.toggle("far", view.scale < FAR);
  canvas.classList.toggle("farther", view.scale < FARTHER);
  drawFrame();
  cull();
};
let pending = false;
const moved = () => {
  if (pending) return;
  pending = true;
  requestAnimationFrame(() => { pending = false; apply(); });
};
const pan = (x, y) => { view.x -= x; view.y -= y; moved(); };
const zoom = (factor, x = stage().width / 2, y = stage().height / 2) => {
  const scale = clamp(view.scale * factor, LEAST, LARGEST), by = scale / view.scale;
  Object.assign(view, { x: x - (x - view.x) * by, y: y - (y - view.y) * by, scale });
  moved();
};
/** The whole graph; a long one from its top, as wide as can be read. */
const showAll = () => {
  const box = stage(), { width, height } = state.root;
  view.scale = clamp(Math.min(box.width / width, box.height / height) * 0.97, LEAST, 1.2);
  Object.assign(view, { x: (box.width - width * view.scale) / 2, y: (box.height - height * view.scale) / 2 });
  moved();
};
const showTop = () => {
  const box = stage(), { width, height } = state.root;
  const whole = Math.min(box.width / width, box.height / height) * 0.97;
  if (whole > 0.7 || !state.root.children.length) { showAll(); return; }
  view.scale = clamp(box.width / width * 0.97, 0.8, 1);
  const top = Math.min(...state.root.children.map(child => child.over)), firsts = state.root.children.filter(child => child.over < top + 80);
  const first = firsts.sort((a, b) => a.left - b.left)[firsts.length >> 1];
  Object.assign(view, { x: box.width / 2 - (first.left + first.width / 2) * view.scale, y: 12 });
  moved();
};
/** Bring an item into sight, large enough to be read. */
const reveal = item => {
  const box = stage(), scale = Math.max(view.scale, 0.8);
  const x = (item.left + item.width / 2) * view.scale + view.x, y = (item.over + item.height / 2) * view.scale + view.y;
  if (scale === view.scale && x > 60 && x < box.width - 60 && y > 40 && y < box.height - 40) return;
  Object.assign(view, { scale, x: box.width / 2 - (item.left + item.width / 2) * scale, y: box.height / 2 - (item.over + item.height / 2) * scale });
  moved();
};
