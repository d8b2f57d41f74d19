// The graphs of the page, and what is known of each node.
const data = JSON.parse(document.getElementById("data").textContent);
const graphs = data.graphs;
const OPS = ["placeholder", "get_attr", "call_module", "call_function", "call_method", "output"];

/** A node's last words: `rms_norm` of torch.ops.pyharness.rms_norm.default, the class of a called module. */
const shortTarget = node => {
  if (node.op === "placeholder") return "input";
  if (node.op === "output") return "output";
  if (node.op === "call_module" && node.kind) return node.kind;
  const parts = node.target.split(".");
  if (node.op === "get_attr") return parts.at(-1);
  return node.target.startsWith("torch.ops.") && parts.length > 4 ? parts[3] : parts.at(-1);
};
const moduleText = node => node.module === null ? "" : node.module || "(root)";
const cut = (text, length) => text.length > length ? `${text.slice(0, length - 1)}…` : text;

for (const graph of graphs) {
  graph.nodes.forEach((node, index) => Object.assign(node, { index, users: [], box: graph.kernels?.[node.kernel] }));
  for (const node of graph.nodes) for (const input of node.inputs) graph.nodes[input].users.push(node.index);
}
