// The trace, decoded: columns by the number of the event, and tables.
const trace = JSON.parse(document.getElementById("data").textContent);
const columns = trace.events;
const count = columns.start.length;
const starts = new Float64Array(count);
const ends = new Float64Array(count);
const parents = new Int32Array(count).fill(-1); // the event that it ran in
const makers = new Int32Array(count).fill(-1); // of a node: the op that made it
const own = Float64Array.from(columns.duration); // without what ran in it
const madeBy = new Map(); // op → the nodes that it made
const approximate = new Set(columns.approximate);
const nodesOf = new Map(columns.nodes);

for (let event = 0, clock = 0; event < count; event++) {
  clock += columns.start[event];
  starts[event] = clock;
  ends[event] = clock + columns.duration[event];
  if (columns.parent[event]) {
    parents[event] = event - columns.parent[event];
    own[parents[event]] = Math.max(0, own[parents[event]] - columns.duration[event]);
  }
  if (columns.forward[event]) {
    const maker = makers[event] = event - columns.forward[event];
    if (!madeBy.has(maker)) madeBy.set(maker, []);
    madeBy.get(maker).push(event);
  }
}

const lastTask = lane => lane.tasks.reduce((last, task) => Math.max(last, task[3] + task[4]), 0);
const traceEnd = Math.max(ends.reduce((a, b) => Math.max(a, b), 1), ...trace.lanes.map(lastTask));
const isBackward = event => trace.lanes[columns.lane[event]].backward;
const nameOf = event => trace.names[columns.name[event]];
const moduleOf = event => columns.module[event] < 0 ? null : trace.modules[columns.module[event]];
const moduleText = module => module === null ? "(no module)" : module || "(model)";

const callOf = number => {
  if (number < 0) return null;
  const [file, line, called, module, node, code] = trace.calls[number];
  return { file, line, function: called, module, node, code, place: `${file}:${line}` };
};
/** The generated or user's line that a stack is about, and all its calls, innermost first. */
const originOf = stack => callOf(trace.stacks[stack][0]);
const callsOf = stack => trace.stacks[stack].slice(1).map(callOf);
const tensorsOf = number => number < 0 ? null : trace.tensors[number];

/** The other half of an event: the nodes that an op made, the op that made a node. */
const partnersOf = event => makers[event] >= 0 ? [makers[event]] : madeBy.get(event) || [];
