// The strip above the lanes: how busy forward and backward were over the whole time, and which part is in sight.
const strip = overview.getContext("2d");
const SLOTS = 1200;

/** By slot, the part of its time that one half was at work. */
const busy = backward => {
  const slots = new Float32Array(SLOTS), width = traceEnd / SLOTS;
  for (let event = 0; event < count; event++) {
    if (columns.row[event] || isBackward(event) !== backward) continue;
    const last = Math.min(Math.floor(ends[event] / width), SLOTS - 1);
    for (let slot = Math.floor(starts[event] / width); slot <= last; slot++) {
      slots[slot] += (Math.min(ends[event], (slot + 1) * width) - Math.max(starts[event], slot * width)) / width;
    }
  }
  return slots;
};
const halves = [busy(false), busy(true)];

const overviewX = time => (time + MARGIN * traceEnd) / (traceEnd * (1 + 2 * MARGIN)) * overview.clientWidth;
const overviewTime = x => x / overview.clientWidth * traceEnd * (1 + 2 * MARGIN) - MARGIN * traceEnd;

const drawOverview = () => {
  const box = fit(overview, strip), half = box.height / 2;
  strip.fillStyle = theme.page;
  strip.fillRect(0, 0, box.width, box.height);
  [theme.forward, theme.backward].forEach((colour, number) => {
    strip.fillStyle = colour;
    halves[number].forEach((part, slot) => {
      if (part <= 0) return;
      const height = Math.max(Math.min(part, 1) * (half - 5), 1);
      const left = Math.floor(overviewX(slot * traceEnd / SLOTS)), right = Math.ceil(overviewX((slot + 1) * traceEnd / SLOTS));
      strip.fillRect(left, half * (number + 1) - 2 - height, right - left, height);
    });
  });
  const left = overviewX(view.start), right = overviewX(view.start + view.span);
  strip.globalAlpha = 0.72;
  strip.fillStyle = theme.panel;
  strip.fillRect(0, 0, left, box.height);
  strip.fillRect(right, 0, box.width - right, box.height);
  strip.globalAlpha = 1;
  strip.strokeStyle = theme.accent;
  strip.lineWidth = 1.5;
  strip.strokeRect(left + 0.75, 0.75, Math.max(right - left - 1.5, 3), box.height - 1.5);
};
