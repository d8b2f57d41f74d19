// Dark or light: as the system has it, until somebody chooses.
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const toggle = document.getElementById("theme");
let drawTheme = () => {};

const showTheme = dark => {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  toggle.textContent = dark ? "☀" : "☾";
  drawTheme();
};
const toggleTheme = () => showTheme(document.documentElement.dataset.theme !== "dark");

/** Shows the system's theme; `drawn` draws anew what has colours of its own. */
const followTheme = (drawn = () => {}) => {
  drawTheme = drawn;
  showTheme(prefersDark.matches);
  toggle.addEventListener("click", toggleTheme);
  prefersDark.addEventListener("change", () => showTheme(prefersDark.matches));
};
