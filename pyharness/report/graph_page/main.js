// Starts the page.
const toggle = document.getElementById("theme");
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

const themed = () => {
  toggle.textContent = document.documentElement.dataset.theme === "dark" ? "☀" : "☾";
  if (state.root) drawMap();
};
const followSystem = () => {
  document.documentElement.dataset.theme = prefersDark.matches ? "dark" : "light";
  themed();
};
document.getElementById("program").textContent = data.program || "graph";
graphs.forEach((graph, number) => chooser.append(element("option", { value: String(number) }, graph.title)));
document.getElementById("choice").hidden = graphs.length < 2;
chooser.addEventListener("change", () => showGraph(Number(chooser.value)));

listKeys();
followSystem();
showGraph(0);
toggle.addEventListener("click", toggleTheme);
document.getElementById("help").addEventListener("click", () => dialog.showModal());
prefersDark.addEventListener("change", followSystem);
new ResizeObserver(() => { drawMap(); moved(); }).observe(document.getElementById("stage"));
