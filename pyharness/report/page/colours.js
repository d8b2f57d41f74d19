// What each event's colour stands for: a module, cut to some levels, or its name.
const PALETTE = ["#6aa9e0", "#f0a35e", "#77c48f", "#e58a95", "#b59be0", "#e3c65a", "#68c5c9", "#d99ac8", "#a8bf6a", "#c9a386", "#8fa8f0", "#e0876a"];
const OUTSIDE = "#a9b0ba"; // what no module called
const ENOUGH = 12; // colours that an eye tells apart

const colourOf = place => place < PALETTE.length ? PALETTE[place] : `hsl(${(place * 137.508) % 360} 52% 68%)`;
const cut = (module, levels) => module === null ? null : module.split(".").slice(0, levels).join(".");
const deepest = trace.modules.reduce((most, module) => Math.max(most, module.split(".").length), 1);

const colouring = {
  levels: 1, groups: [], groupOf: new Int32Array(count), isolated: null,
  known: new Map(), // what a group stands for → the group
  inner: new Set(), // modules that others are in
  /** The group that a whole module is in; undefined where it is in several, or colours are not by module. */
  ofModule(module) {
    const whole = module.split(".").length >= this.levels || !this.inner.has(module);
    return this.levels && whole ? this.known.get(cut(module, this.levels)) : undefined;
  },
};

for (const module of trace.modules) {
  for (let dot = module.indexOf("."); dot >= 0; dot = module.indexOf(".", dot + 1)) colouring.inner.add(module.slice(0, dot));
}

/** The deepest cut that an eye can still tell apart. */
const bestLevels = () => {
  let best = 1;
  for (let levels = 1; levels <= deepest; levels++) {
    if (new Set(trace.modules.map(module => cut(module, levels))).size <= ENOUGH) best = levels;
  }
  return best;
};

/** Colours by modules of so many levels; 0 by name. The group that took the longest comes first. */
const colourBy = levels => {
  const label = levels ? event => cut(moduleOf(event), levels) : nameOf;
  const known = new Map();
  for (let event = 0; event < count; event++) {
    const key = label(event);
    let group = known.get(key);
    if (!group) known.set(key, group = { label: levels ? moduleText(key) : key, key, forward: 0, backward: 0, count: 0, events: [] });
    group[isBackward(event) ? "backward" : "forward"] += own[event];
    group.count++;
    group.events.push(event);
  }
  const groups = [...known.values()].sort((a, b) => b.forward + b.backward - a.forward - a.backward);
  let place = 0;
  groups.forEach((group, number) => {
    group.colour = group.key === null ? OUTSIDE : colourOf(place++);
    for (const event of group.events) colouring.groupOf[event] = number;
    delete group.events;
  });
  Object.assign(colouring, { levels, groups, isolated: null, known });
};
const eventColour = event => colouring.groups[colouring.groupOf[event]].colour;
