// Finds what a page shows by its text, and goes from one hit to the next.
const field = document.getElementById("search");
const hits = document.getElementById("hits");
const found = { all: [], at: -1 };
let searched = { items: [], texts: () => [], show: () => {} };

const search = () => {
  const wanted = field.value.trim().toLowerCase();
  const says = item => searched.texts(item).some(text => text.toLowerCase().includes(wanted));
  found.all = wanted ? searched.items.filter(says) : [];
  found.at = -1;
  for (const item of searched.items) item.made.classList.toggle("hit", found.all.includes(item));
  hits.textContent = wanted ? (found.all.length ? found.all.length.toLocaleString("en") : "none") : "";
};
const nextHit = step => {
  if (!found.all.length) return;
  found.at = (found.at + step + found.all.length) % found.all.length;
  const item = found.all[found.at];
  for (let up = item.made.parentElement; up?.tagName === "DETAILS"; up = up.parentElement) up.open = true;
  hits.textContent = `${found.at + 1} of ${found.all.length}`;
  searched.show(item);
  item.made.scrollIntoView({ block: "center" });
};

/** Has the field search `items`, each with an element `made`: by `texts(item)`; `show(item)` selects a hit. */
const followSearch = wanted => {
  searched = wanted;
  field.addEventListener("input", search);
};
