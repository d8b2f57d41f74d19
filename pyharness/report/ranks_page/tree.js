// The tree of all ranks: equal lines once, folded and unfolded by a click.
const data = JSON.parse(document.getElementById("data").textContent);
const culprits = new Set(data.verdict.culprits);
const treeRoot = document.getElementById("tree");
const nodes = [];

const part = (name, text) => text ? element("span", { className: name }, `  ${text}`) : null;
const drawNode = node => {
  const summary = element("summary", {},
    element("span", { className: "ranks" }, `[${node.ranks}]`), " ",
    element("span", { className: node.place ? "" : "does" }, node.text),
    part("place", node.place), part("source", node.source), part("fx", node.note));
  const made = element("details", { open: true }, summary, node.children.map(drawNode));
  const blamed = node.members.length === culprits.size && node.members.every(index => culprits.has(data.ranks[index].number));
  made.className = [node.children.length ? "" : "leaf", blamed ? "culprit" : ""].join(" ").trim();
  summary.addEventListener("click", () => select(node));
  nodes.push({ node, made });
  return made;
};
const drawTree = () => treeRoot.replaceChildren(...data.tree.map(drawNode));
const openAll = open => { for (const { made } of nodes) made.open = open; };
