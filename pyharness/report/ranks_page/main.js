// Starts the page.
const toggle = document.getElementById("theme");
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

const followSystem = () => {
  document.documentElement.dataset.theme = prefersDark.matches ? "dark" : "light";
  themed();
};
document.getElementById("program").textContent = data.program;
document.getElementById("summary").textContent = data.summary;
const verdict = document.getElementById("verdict");
verdict.textContent = data.verdict.text;
verdict.classList.toggle("fault", data.verdict.isFault);

drawTree();
drawMatrix();
listKeys();
followSystem();
const blamed = data.ranks.flatMap((rank, index) => culprits.has(rank.number) ? [index] : []);
if (blamed.length) showRanks(blamed); else showNothing();
toggle.addEventListener("click", toggleTheme);
document.getElementById("help").addEventListener("click", () => dialog.showModal());
prefersDark.addEventListener("change", followSystem);
