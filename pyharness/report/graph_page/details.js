// The panel: all that is known of the selected node, and what the colours stand for.
const panel = document.getElementById("details");
const legend = document.getElementById("legend");

const facts = pairs => element("dl", {}, pairs.filter(([, value]) => value !== "" && value !== null).map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
const linksTo = (title, indices) => {
  if (!indices.length) return [];
  const nodes = graphs[state.graph].nodes, shown = indices.slice(0, 40);
  const buttons = shown.map(index => element("button", { type: "button", onclick: () => select(index) }, nodes[index].name));
  if (indices.length > shown.length) buttons.push(element("span", { className: "hint" }, `and ${indices.length - shown.length} more`));
  return [element("h3", {}, `${title} (${indices.length})`), element("div", { className: "links" }, buttons)];
};
const drawDetails = () => {
  if (state.selected === null) {
    panel.replaceChildren(element("p", { className: "hint" }, "Click a node to see all of it. Click a group's name to close or open it."),
      element("p", { className: "hint" }, "? lists keys and mouse."));
    return;
  }
  const node = graphs[state.graph].nodes[state.selected];
  const swatch = element("span", { className: "swatch" });
  swatch.style.background = `var(--${node.op})`;
  panel.replaceChildren(
    element("h2", {}, swatch, node.name),
    facts([["op", node.op], ["target", node.target], ["class", node.kind], ["module", node.module === null ? (node.op === "output" ? "" : "not recorded") : moduleText(node)], ["shape", node.shape]]),
    ...(node.box ? [element("h3", {}, "kernel"), facts([["name", node.box.title], ["file", node.box.file], ["lines", node.lines]])] : []),
    ...(node.code ? [element("h3", {}, `generated code, line ${node.line}`), element("div", { className: "code" }, node.code)] : []),
    ...(node.origin ? [element("h3", {}, node.origin), element("div", { className: "code" }, node.source || "(the file cannot be read)")] : []),
    ...linksTo("inputs", node.inputs), ...linksTo("users", node.users));
};
const drawLegend = () => {
  const counts = {};
  for (const node of graphs[state.graph].nodes) counts[node.op] = (counts[node.op] || 0) + 1;
  legend.replaceChildren(...OPS.filter(op => counts[op]).map(op => {
    const swatch = element("span", { className: "swatch" });
    swatch.style.background = `var(--${op})`;
    return element("div", {}, swatch, element("span", {}, op), element("span", {}, counts[op].toLocaleString("en")));
  }));
};
