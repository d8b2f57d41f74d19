// Finds events by a part of their name, module, line, FX node or shapes.
const field = document.getElementById("search");
const hits = document.getElementById("hits");
let found = [];

const search = () => {
  const wanted = field.value.trim().toLowerCase();
  found = [];
  state.hit = -1;
  state.hits = wanted ? new Uint8Array(count) : null;
  const fits = text => text !== null && text.toLowerCase().includes(wanted);
  if (wanted) mark(fits, call => [call.place, call.function, call.node]);
  if (wanted && !found.length) mark(fits, call => [call.code]); // a line names more than what it is about
  said();
  changed();
};
/** Tables are searched once each; an event is a hit where one of its rows is. */
const mark = (fits, saying) => {
  const names = trace.names.map(fits), modules = trace.modules.map(fits), tensors = trace.tensors.map(fits);
  const stacks = trace.stacks.map((_, stack) => {
    const call = originOf(stack);
    return call !== null && saying(call).some(fits);
  });
  for (let event = 0; event < count; event++) {
    if (names[columns.name[event]] || modules[columns.module[event]] || stacks[columns.stack[event]] ||
        columns.inputs && (tensors[columns.inputs[event]] || tensors[columns.outputs[event]])) {
      state.hits[event] = 1;
      found.push(event);
    }
  }
};
const said = () => {
  hits.textContent = !state.hits ? "" : found.length ? `${state.hit < 0 ? "" : `${state.hit + 1} of `}${found.length.toLocaleString("en")}` : "none";
};
/** Goes to the next hit, or the one before. */
const nextHit = step => {
  if (!found.length) return;
  const from = state.hit < 0 && step < 0 ? 0 : state.hit;
  state.hit = (from + step + found.length) % found.length;
  said();
  select(found[state.hit]);
};
field.addEventListener("input", search);
