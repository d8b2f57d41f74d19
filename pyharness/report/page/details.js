// What is known of an event: in short beside the pointer, in full in the panel.
const details = document.getElementById("details");
const tip = document.getElementById("tip");

const placeText = call => `${call.place} ${call.function}`;
const facts = pairs => element("dl", {}, pairs.filter(pair => pair[1] !== null && pair[1] !== "").map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
const codeOf = call => call && call.code ? element("div", { className: "code" }, call.code) : null;
const shapesAt = (event, half) => [[`${half}inputs`, tensorsOf(columns.inputs[event])], [`${half}outputs`, tensorsOf(columns.outputs[event])]];
/** Shapes of the event; of the op that made it, where those of a node are not known. */
const shapesOf = event => {
  if (!columns.inputs) return [];
  const borrowed = columns.inputs[event] < 0 && makers[event] >= 0;
  return borrowed ? shapesAt(makers[event], "forward ") : shapesAt(event, "");
};

const eventTip = event => {
  const origin = originOf(columns.stack[event]);
  return [
    element("b", {}, nameOf(event)), `  ${durationText(columns.duration[event])}`,
    element("div", {}, moduleText(moduleOf(event)), origin?.node ? ` · fx: ${origin.node}` : null),
    codeOf(origin),
    origin ? element("div", {}, placeText(origin)) : null,
    shapesOf(event).filter(pair => pair[1]).map(([name, text]) => element("div", {}, `${name} ${text}`)),
  ];
};
const bandTip = span => [element("b", {}, trace.modules[span[1]]), `  ${durationText(span[3])}`];
const taskTip = task => {
  const origin = originOf(task[6]);
  return [element("b", {}, task[1] || "engine"), `  ${durationText(task[4])}`, element("div", {}, `graph task ${task[0]}, ${countText(task[5], "node")}`),
    codeOf(origin), origin ? element("div", {}, placeText(origin)) : null];
};
const TIPS = { event: eventTip, band: bandTip, task: taskTip };

const showTip = (x, y) => {
  tip.hidden = !state.hovered;
  if (tip.hidden) return;
  tip.replaceChildren(...TIPS[state.hovered.kind](state.hovered.item).flat().filter(Boolean));
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.min(x + 14, innerWidth - box.width - 8)}px`;
  tip.style.top = `${y + 18 + box.height > innerHeight ? y - box.height - 10 : y + 18}px`;
};

const partnerButtons = event => {
  const title = makers[event] >= 0 ? "forward: " : "backward: ";
  const buttons = partnersOf(event).slice(0, 12).map(partner =>
    element("button", { type: "button", onclick: () => select(partner) }, `${title}${nameOf(partner)} ${durationText(columns.duration[partner])}`));
  return buttons.length ? element("div", { className: "partners" }, buttons) : null;
};
const stackOf = event => {
  const calls = callsOf(columns.stack[event]);
  if (calls.length < 2) return null;
  const items = calls.map(call => element("li", {}, element("b", {}, call.function), ` ${call.place}`));
  return element("details", {}, element("summary", {}, countText(calls.length, "call")), element("ol", { className: "stack" }, items));
};
const eventFacts = event => facts([
  ["module", moduleText(moduleOf(event))],
  ["fx node", originOf(columns.stack[event])?.node ?? null],
  ["duration", durationText(columns.duration[event]) + (own[event] < columns.duration[event] ? `, self ${durationText(own[event])}` : "")],
  ["start", `${(starts[event] / 1e6).toLocaleString("en", { maximumFractionDigits: 4 })} ms`],
  ...shapesOf(event),
  ["memory", columns.memory && columns.memory[event] >= 0 ? sizeText(columns.memory[event]) : null],
  ["thread", `${trace.lanes[columns.lane[event]].name} ${trace.lanes[columns.lane[event]].thread}`.trim()],
  ["sequence", columns.sequence[event] < 0 ? null : String(columns.sequence[event])],
  ["graph task", columns.task[event] < 0 ? null : String(columns.task[event])],
  ["nodes", nodesOf.get(event) ?? null],
  ["note", approximate.has(event) ? "the forward op is the nearest, it was not seen to make this node" : null],
]);

const HINT = "Point at an event to see its line, module and shapes; click to keep it here and to see its other half. Press ? for the keys.";
const drawDetails = () => {
  const event = state.selected;
  if (event < 0) {
    details.replaceChildren(element("p", { className: "hint" }, HINT));
    return;
  }
  const origin = originOf(columns.stack[event]);
  const swatch = element("span", { className: "swatch" });
  swatch.style.background = eventColour(event);
  const parts = [
    element("h2", {}, swatch, element("span", {}, nameOf(event), element("span", { className: "hint" }, columns.kind[event] ? "  autograd node" : "  op"))),
    codeOf(origin), origin ? element("div", { className: "hint" }, placeText(origin)) : null,
    eventFacts(event), partnerButtons(event), stackOf(event),
  ];
  details.replaceChildren(...parts.filter(Boolean));
};

const select = event => {
  state.selected = event;
  if (event >= 0) reveal(event);
  drawDetails();
  changed();
};
