// How large a node's box is, and what is written in it.
const WIDE = 7.3, NARROW = 6.7; // pixels of a character: bold text, code
const MOST = 46; // characters of a line of code
const FILE = 18; // characters of a kernel's file beside its name: torch names it by a hash

const wordsOf = node => {
  const line = node.code || (node.op === "placeholder" || node.op === "output" ? node.name : `${node.name} = ${node.target}`);
  const below = [node.op === "call_module" || node.module ? moduleText(node) : "", node.shape].filter(Boolean).join("  ·  ");
  return { title: shortTarget(node), op: node.op, line: cut(line, MOST), below: cut(below, MOST + 6) };
};
const sizeOfNode = node => {
  const { title, op, line, below } = node.words ??= wordsOf(node);
  const width = Math.max(title.length * WIDE + op.length * 6 + 14, line.length * NARROW, below.length * 6.2, 60) + 26;
  return { width, height: below ? 62 : 46 };
};
const sizeOfClosed = group => ({ width: Math.max(nameOf(group).length * WIDE, 90) + 40, height: 48 });
const LONGEST = 56; // characters of a kernel's name, which ends in its number
/** What stands on a group: a module's path, or a kernel's name. */
const nameOf = ({ path, file }) => !file || path.length <= LONGEST ? path : `${path.slice(0, LONGEST >> 1)}…${path.slice(-(LONGEST >> 1) + 1)}`;
const shortFile = file => cut(file.split("/").at(-1), FILE);
