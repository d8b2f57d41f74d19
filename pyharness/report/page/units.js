// Numbers as people read them.
const scaled = (value, step, units) => {
  let unit = 0;
  for (; value >= step - 0.5 && unit < units.length - 1; unit++) value /= step;
  return `${value.toFixed(unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2)} ${units[unit]}`;
};
const durationText = nanoseconds => scaled(nanoseconds, 1000, ["ns", "µs", "ms", "s"]);
const sizeText = bytes => scaled(bytes, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);
const countText = (count, what, plural = `${what}s`) => `${count.toLocaleString("en")} ${count === 1 ? what : plural}`;

/** A point in time, with as many digits as tell it from one that is `step` away. */
const timeText = (nanoseconds, step) => {
  const largest = Math.max(Math.abs(nanoseconds), step);
  const [scale, unit] = largest >= 1e9 ? [1e9, "s"] : largest >= 1e6 ? [1e6, "ms"] : largest >= 1e3 ? [1e3, "µs"] : [1, "ns"];
  const digits = Math.max(0, Math.ceil(Math.log10(scale / step) - 1e-9));
  return `${(nanoseconds / scale + 0).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })} ${unit}`;
};

/** An element with children; strings become text, never markup. */
const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name in made) made[name] = value; else made.setAttribute(name, value);
  }
  made.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined));
  return made;
};
