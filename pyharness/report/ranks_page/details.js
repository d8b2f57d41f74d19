// The panel: the threads of the ranks that were clicked, equal stacks once.
const panel = document.getElementById("details");

const select = node => {
  for (const each of nodes) each.made.classList.toggle("selected", each.node === node);
  showRanks(node.members);
};
const ranksText = indices => indices.map(index => data.ranks[index].name).slice(0, 12).join(", ") + (indices.length > 12 ? ` and ${indices.length - 12} more` : "");
const threadsOf = indices => {
  const known = new Map();
  for (const index of indices) {
    for (const [title, stack] of data.ranks[index].threads) {
      const key = `${title}\n${stack}`;
      if (!known.has(key)) known.set(key, { title, stack, ranks: [] });
      known.get(key).ranks.push(index);
    }
  }
  return [...known.values()];
};
const showRanks = indices => {
  const first = data.ranks[indices[0]];
  panel.replaceChildren(
    element("h2", {}, indices.length === 1 ? `${first.name}: ${first.doing}` : `${indices.length} ranks: ${ranksText(indices)}`),
    ...(indices.length === 1 ? [element("p", { className: "hint" }, first.about)] : []),
    ...threadsOf(indices).flatMap(({ title, stack, ranks }) => [
      element("h2", {}, `${title}${ranks.length > 1 ? ` (${ranks.length} times)` : ""}`),
      element("pre", {}, data.stacks[stack]),
    ]));
};
const showNothing = () => panel.replaceChildren(
  element("p", { className: "hint" }, "Click a line of the tree, or a row of the table, to see all threads of its ranks."),
  element("p", { className: "hint" }, "? lists keys and mouse."));
