// Groups: a stretch of nodes of one call of a module, in the groups of the modules that it is in; or of one kernel.
const INPUTS = 4; // more are parameters that a compiler made inputs
const ENOUGH = 160; // items that are shown at once, unless asked for more

/** Where a node is at home: the module that made it; a called module's own place is in its parent. */
const homeOf = node => {
  if (node.op === "placeholder" || node.op === "output") return [];
  if (node.module === null) return null;
  const parts = node.module.split(".").filter(Boolean);
  return node.op === "call_module" ? parts.slice(0, -1) : parts;
};

/** A node that nobody knows the home of stays with the nodes around it, where those are at one. */
const homesOf = nodes => {
  const homes = nodes.map(homeOf), same = (a, b) => a && b && a.join(".") === b.join(".");
  for (let index = 0; index < homes.length; index++) {
    if (homes[index]) continue;
    const before = homes[index - 1], after = homes.slice(index).find(Boolean);
    homes[index] = same(before, after) ? before : [];
  }
  return homes;
};

const common = (a, b) => a.slice(0, a.findIndex((part, depth) => part !== b[depth]) >>> 0);
/**
 * The order in which nodes are drawn. A compiled graph has all its parameters as inputs, an exported one reads them all
 * first: each stands where it is used, in the innermost group that has all its users.
 */
const arrange = (nodes, homes) => {
  const lifted = nodes.filter(node => node.op === "placeholder").length > INPUTS;
  const moves = node => node.users.length && !node.inputs.length && (node.op === "placeholder" ? lifted : node.op === "get_attr" && !homes[node.index].length);
  const [moved, staying] = [nodes.filter(moves), nodes.filter(node => !moves(node)).map(node => node.index)];
  const places = new Map(staying.map((index, place) => [index, place])), before = staying.map(() => []);
  for (const node of moved) {
    const [user] = node.users, home = homes[node.index] = node.users.map(index => homes[index]).reduce(common);
    const depth = home.length, part = homes[user][depth];
    let place = places.get(user);
    const inSameGroup = index => homes[index].length > depth && homes[index][depth] === part && common(homes[index], home).length === depth;
    if (part !== undefined) while (place > 0 && inSameGroup(staying[place - 1])) place--;
    before[place].push(node.index);
  }
  return staying.flatMap((index, place) => [...before[place], index]);
};

/** By kernel: nodes come in order, and even one alone has a box, which is named by its kernel. */
const inKernels = nodes => ({ order: nodes.map(node => node.index), homes: nodes.map(node => node.box ? [String(node.kernel)] : []) });
const inModules = nodes => {
  const known = homesOf(nodes), order = arrange(nodes, known);
  return { order, homes: order.map(index => known[index]) };
};

const makeGroups = graph => {
  let numbered = 0;
  const { order, homes } = graph.kernels ? inKernels(graph.nodes) : inModules(graph.nodes), least = graph.kernels ? 1 : 2;
  const named = (path, { box }) => ({ path: box ? box.title : path, file: box?.file ?? "" });
  const leaf = (node, parent) => ({ kind: "node", node, parent, first: node.index, count: 1 });
  const fill = (group, low, high, depth) => {
    for (let index = low; index < high;) {
      const part = homes[index][depth];
      let end = index + 1;
      if (part !== undefined) while (end < high && homes[end][depth] === part) end++;
      if (part === undefined || end < index + least) {
        group.children.push(leaf(graph.nodes[order[index]], group));
        end = index + 1;
      } else {
        group.children.push(inner({ kind: "group", number: ++numbered, ...named(homes[index].slice(0, depth + 1).join("."), graph.nodes[order[index]]), parent: group, children: [], first: index, count: end - index, open: true }, index, end, depth + 1));
      }
      index = end;
    }
    return group;
  };
  /** A group whose only child is a group is that one. */
  const inner = (group, low, high, depth) => {
    fill(group, low, high, depth);
    const [only] = group.children;
    if (group.children.length > 1 || only.kind === "node") return group;
    only.parent = group.parent;
    return only;
  };
  const root = fill({ kind: "group", path: "", parent: null, children: [], first: 0, count: graph.nodes.length, open: true }, 0, graph.nodes.length, 0);
  const of = new Array(graph.nodes.length);
  const note = item => item.kind === "node" ? of[item.node.index] = item : item.children.forEach(note);
  note(root);
  return { root, of };
};
const eachGroup = (group, visit) => group.children.forEach(child => { if (child.kind === "group") { visit(child); eachGroup(child, visit); } });

/** Opens groups from the outermost on, the small ones first, as long as an eye can take in what they show. */
const openEnough = root => {
  eachGroup(root, group => { group.open = false; });
  let shown = root.children.length;
  const waiting = root.children.filter(child => child.kind === "group");
  while (waiting.length) {
    waiting.sort((a, b) => b.children.length - a.children.length);
    const group = waiting.pop();
    if (shown + group.children.length > ENOUGH) break;
    shown += group.children.length;
    group.open = true;
    waiting.push(...group.children.filter(child => child.kind === "group"));
  }
};
/** What stands for a node: itself, or the outermost closed group around it. */
const shownFor = item => {
  let shown = item;
  for (let group = item.parent; group; group = group.parent) if (!group.open) shown = group;
  return shown;
};
