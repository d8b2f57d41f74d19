// Starts the page.
document.getElementById("program").textContent = data.program || "graph";
graphs.forEach((graph, number) => chooser.append(element("option", { value: String(number) }, graph.title)));
document.getElementById("choice").hidden = graphs.length < 2;
chooser.addEventListener("change", () => showGraph(Number(chooser.value)));

listKeys();
followTheme(() => { if (state.root) drawMap(); });
showGraph(0);
document.getElementById("help").addEventListener("click", () => dialog.showModal());
new ResizeObserver(() => { drawMap(); moved(); }).observe(document.getElementById("stage"));
