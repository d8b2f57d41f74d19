// Starts the page.
document.getElementById("program").textContent = data.program;
document.getElementById("summary").textContent = data.summary;
const verdict = document.getElementById("verdict");
verdict.textContent = data.verdict.text;
verdict.classList.toggle("fault", data.verdict.isFault);

drawTree();
drawMatrix();
listKeys();
followTheme();
const blamed = data.ranks.flatMap((rank, index) => culprits.has(rank.number) ? [index] : []);
if (blamed.length) showRanks(blamed); else showNothing();
document.getElementById("help").addEventListener("click", () => dialog.showModal());
