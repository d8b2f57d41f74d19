// Finds nodes by a part of their name, op, target, class, module, kernel, shape or lines.
const field = document.getElementById("search");
const hits = document.getElementById("hits");

const search = () => {
  const wanted = field.value.trim().toLowerCase();
  const texts = node => [node.name, node.op, node.target, node.kind, node.module ?? "", node.shape, node.origin, node.box?.title ?? ""];
  const fits = saying => graphs[state.graph].nodes.filter(node => saying(node).some(text => text.toLowerCase().includes(wanted))).map(node => node.index);
  state.hit = -1;
  state.hits = wanted ? fits(texts) : [];
  if (wanted && !state.hits.length) state.hits = fits(node => [node.code, node.source]); // a line names more than what it is about
  said();
  mark();
};
const said = () => {
  const count = state.hits.length.toLocaleString("en");
  hits.textContent = !field.value.trim() ? "" : !state.hits.length ? "none" : state.hit < 0 ? count : `${state.hit + 1} of ${count}`;
};
/** Goes to the next hit, or the one before. */
const nextHit = step => {
  if (!state.hits.length) return;
  const from = state.hit < 0 && step < 0 ? 0 : state.hit;
  state.hit = (from + step + state.hits.length) % state.hits.length;
  said();
  select(state.hits[state.hit]);
};
field.addEventListener("input", search);
