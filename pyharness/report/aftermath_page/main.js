// Starts the page.
document.getElementById("program").textContent = data.program;
document.getElementById("summary").textContent = data.summary;
document.getElementById("verdict").textContent = data.what;

root.append(...data.threads.map(drawThread));
listKeys();
followTheme();
const first = frames.find(({ frame }) => !frame.plumbing) ?? frames[0];
if (first && !data.traceback) select(first); else showTraceback();
document.getElementById("help").addEventListener("click", () => dialog.showModal());
