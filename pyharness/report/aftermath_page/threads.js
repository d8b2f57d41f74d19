// The threads, each with its frames; what a frame has is shown in the panel.
const data = JSON.parse(document.getElementById("data").textContent);
const root = document.getElementById("threads");
const panel = document.getElementById("details");
const frames = [];

const drawFrame = frame => {
  const made = element("button", { type: "button", className: frame.plumbing ? "machinery" : "" },
    element("span", { className: "language" }, frame.language === "python" ? "python  " : "native  "),
    frame.function,
    element("span", { className: "place" }, frame.place ? `  ${frame.place}` : ""),
    element("span", { className: "fx" }, frame.notes ? `  ${frame.notes}` : ""));
  const known = { frame, made };
  made.addEventListener("click", () => select(known));
  frames.push(known);
  return made;
};
const drawThread = (thread, number) => element("details", { open: number === 0 },
  element("summary", {}, thread.title),
  thread.note ? element("p", { className: "note" }, thread.note) : "",
  ...thread.frames.map(drawFrame));

const select = known => {
  for (const each of frames) each.made.classList.toggle("selected", each === known);
  const { frame } = known;
  const variables = frame.variables.map(([name, value]) => element("tr", {}, element("td", {}, name), element("td", {}, value)));
  panel.replaceChildren(
    element("h2", {}, frame.function),
    element("p", { className: "hint" }, [frame.place, frame.library, frame.notes].filter(Boolean).join("  ")),
    element("pre", {}, frame.source.map(([number, text]) =>
      element("span", { className: number === frame.line ? "current" : "" }, `${String(number).padStart(5)}  ${text}\n`))),
    ...(variables.length ? [element("h2", {}, "Variables"), element("table", {}, element("tbody", {}, variables))] : []));
};
const showTraceback = () => panel.replaceChildren(
  ...(data.traceback ? [element("h2", {}, "Traceback"), element("pre", {}, data.traceback)] : []),
  ...data.facts.map(text => element("p", { className: "hint" }, text)));
const shown = () => frames.filter(({ made }) => made.offsetParent !== null);
