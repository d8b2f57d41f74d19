// Which rank has called which collective: a table for each group, equal ranks in one row.
const STATES = { over: "done", open: "waits here", other: "another call than most", absent: "not called" };

const drawCell = cell => element("td", {}, element("span", { className: `cell ${cell.state}`, title: cell.title || STATES[cell.state] }, cell.state === "open" || cell.state === "other" ? cell.text : ""));
const drawRow = row => {
  const name = element("td", {}, element("button", { type: "button", onclick: () => showRanks(row.members) }, row.ranks));
  const blamed = row.members.some(index => culprits.has(data.ranks[index].number));
  return element("tr", { className: blamed ? "culprit" : "" }, name, row.cells.map(drawCell));
};
const drawGroup = group => [
  element("h2", {}, `Collectives of ${group.name}`),
  element("table", {},
    element("thead", {}, element("tr", {}, element("th", {}, "ranks"), group.numbers.map(number => element("th", {}, `#${number}`)))),
    element("tbody", {}, group.rows.map(drawRow))),
];
const drawMatrix = () => document.getElementById("matrix").replaceChildren(...data.groups.flatMap(drawGroup));
