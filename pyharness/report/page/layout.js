// Where things lie from top to bottom; times lie from left to right.
const RULER = 24, HEAD = 22, BAND = 16, TASK = 18, ROW = 20, GAP = 12;

/** A row of things in order of time, which do not overlap; `find` gives the first that ends after `time`. */
const row = (kind, y, height, items, startOf, endOf) => ({
  kind, y, height, items, startOf, endOf,
  find(time) {
    let low = 0, high = items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (endOf(items[middle]) <= time) low = middle + 1; else high = middle;
    }
    return low;
  },
});

const taskRow = (lane, y, level) => row("task", y, TASK, lane.tasks.filter(task => task[2] === level), task => task[3], task => task[3] + task[4]);
const bandRow = (lane, y, level) =>
  row("band", y, BAND, lane.spans.filter(span => span[0] === level).sort((a, b) => a[2] - b[2]), span => span[2], span => span[2] + span[3]);
const eventRow = (items, y) => row("event", y, ROW, items, event => starts[event], event => ends[event]);

const layout = (() => {
  const events = trace.lanes.map(lane => Array.from({ length: lane.rows }, () => []));
  for (let event = 0; event < count; event++) events[columns.lane[event]][columns.row[event]].push(event);
  const lanes = [], rows = [], place = new Map(); // "lane row" → the row of events
  let y = 0;
  trace.lanes.forEach((lane, number) => {
    const top = y;
    y += HEAD;
    const add = made => { rows.push(made); y += made.height; return made; };
    for (let level = 0; lane.tasks.some(task => task[2] === level); level++) add(taskRow(lane, y, level));
    for (let level = 0; lane.spans.some(span => span[0] === level); level++) add(bandRow(lane, y, level));
    events[number].forEach((items, depth) => place.set(`${number} ${depth}`, add(eventRow(items, y))));
    lanes.push({ lane, top, bottom: y });
    y += GAP;
  });
  return { lanes, rows, height: y, rowOf: event => place.get(`${columns.lane[event]} ${columns.row[event]}`) };
})();
