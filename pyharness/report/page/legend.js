// The table of what the colours stand for: its times, and a click shows that one alone.
const legend = document.getElementById("legend");
const chooser = document.getElementById("colour-by");
const MOST = 300; // rows

const legendRow = (group, number) => {
  const swatch = element("span", { className: "swatch" });
  swatch.style.background = group.colour;
  const isolate = () => {
    colouring.isolated = colouring.isolated === number ? null : number;
    drawLegend();
    changed();
  };
  const name = element("button", { type: "button", onclick: isolate, title: "Show this one alone", ariaPressed: String(colouring.isolated === number) }, swatch, group.label);
  const time = value => element("td", {}, value ? durationText(value) : "");
  const off = colouring.isolated !== null && colouring.isolated !== number;
  return element("tr", { className: off ? "off" : "" }, element("td", {}, name), time(group.forward), time(group.backward));
};

const drawLegend = () => {
  const heads = [colouring.levels ? "module" : "name", "forward", "backward"].map(text => element("th", { scope: "col" }, text));
  const rows = colouring.groups.slice(0, MOST).map(legendRow);
  const rest = colouring.groups.length - rows.length;
  if (rest > 0) rows.push(element("tr", {}, element("td", { className: "hint" }, `and ${rest} more`)));
  legend.replaceChildren(element("table", {}, element("thead", {}, element("tr", {}, heads)), element("tbody", {}, rows)));
};

const recolour = levels => {
  colourBy(levels);
  drawLegend();
  drawDetails();
  changed();
};
const startColouring = () => {
  const levels = trace.modules.length ? bestLevels() : 0;
  for (let level = 1; level <= (trace.modules.length ? deepest : 0); level++) {
    chooser.append(element("option", { value: String(level) }, level === deepest ? "by module, whole path" : `by module, ${countText(level, "level")}`));
  }
  chooser.append(element("option", { value: "0" }, "by op and node"));
  chooser.value = String(levels);
  chooser.addEventListener("change", () => recolour(Number(chooser.value)));
  recolour(levels);
};
