// Finds lines of the tree by their text.
const field = document.getElementById("search");
const hits = document.getElementById("hits");
const found = { all: [], at: -1 };

const search = () => {
  const wanted = field.value.trim().toLowerCase();
  const says = ({ node }) => [node.text, node.place, node.source, node.note, node.ranks].some(text => text.toLowerCase().includes(wanted));
  found.all = wanted ? nodes.filter(says) : [];
  found.at = -1;
  for (const each of nodes) each.made.classList.toggle("hit", found.all.includes(each));
  hits.textContent = wanted ? (found.all.length ? found.all.length.toLocaleString("en") : "none") : "";
};
const nextHit = step => {
  if (!found.all.length) return;
  found.at = (found.at + step + found.all.length) % found.all.length;
  const { node, made } = found.all[found.at];
  for (let up = made.parentElement; up?.tagName === "DETAILS"; up = up.parentElement) up.open = true;
  hits.textContent = `${found.at + 1} of ${found.all.length}`;
  made.scrollIntoView({ block: "center" });
  select(node);
};
field.addEventListener("input", search);
