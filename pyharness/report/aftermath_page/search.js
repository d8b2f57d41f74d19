// Finds frames by their function, place, notes and variables.
const field = document.getElementById("search");
const hits = document.getElementById("hits");
const found = { all: [], at: -1 };

const search = () => {
  const wanted = field.value.trim().toLowerCase();
  const says = ({ frame }) => [frame.function, frame.place, frame.notes, ...frame.variables.flat()].some(text => text.toLowerCase().includes(wanted));
  found.all = wanted ? frames.filter(says) : [];
  found.at = -1;
  for (const each of frames) each.made.classList.toggle("hit", found.all.includes(each));
  hits.textContent = wanted ? (found.all.length ? found.all.length.toLocaleString("en") : "none") : "";
};
const nextHit = step => {
  if (!found.all.length) return;
  found.at = (found.at + step + found.all.length) % found.all.length;
  const { frame, made } = found.all[found.at];
  made.parentElement.open = true;
  if (frame.plumbing) showMachinery(true);
  hits.textContent = `${found.at + 1} of ${found.all.length}`;
  made.scrollIntoView({ block: "center" });
  select(found.all[found.at]);
};
field.addEventListener("input", search);
