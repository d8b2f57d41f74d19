// The strip beside the drawing: the whole graph from top to bottom, and which part of it is seen.
const strip = document.getElementById("map");
const stripFrame = document.getElementById("map-frame");

/** Wider than high or higher than wide: a strip is as high as the stage, and a narrow graph fills its width. */
const stripScale = () => ({ x: strip.clientWidth / state.root.width, y: strip.clientHeight / state.root.height });
const drawMap = () => {
  const ratio = window.devicePixelRatio || 1, context = strip.getContext("2d"), style = getComputedStyle(document.documentElement);
  strip.width = strip.clientWidth * ratio;
  strip.height = strip.clientHeight * ratio;
  const scale = stripScale();
  context.scale(ratio, ratio);
  const paint = (item, colour, least) => {
    context.fillStyle = style.getPropertyValue(colour);
    context.fillRect(item.left * scale.x, item.over * scale.y, Math.max(item.width * scale.x, least), Math.max(item.height * scale.y, least));
  };
  const draw = group => group.children.forEach(child => {
    paint(child, child.kind === "node" ? `--${child.node.op}` : child.open ? "--group" : "--group-line", 1);
    if (child.kind === "group" && child.open) draw(child);
  });
  draw(state.root);
};
const drawFrame = () => {
  const box = stage(), scale = stripScale();
  const top = clamp(-view.y / view.scale * scale.y, 0, strip.clientHeight), low = clamp((box.height - view.y) / view.scale * scale.y, 0, strip.clientHeight);
  stripFrame.style.top = `${top}px`;
  stripFrame.style.height = `${Math.max(low - top, 3)}px`;
};
const goTo = event => {
  const box = stage(), y = (event.clientY - strip.getBoundingClientRect().top) / stripScale().y;
  view.y = box.height / 2 - y * view.scale;
  moved();
};
strip.addEventListener("pointerdown", event => { strip.setPointerCapture(event.pointerId); goTo(event); });
strip.addEventListener("pointermove", event => { if (event.buttons & 1) goTo(event); });
strip.addEventListener("wheel", event => { event.preventDefault(); pan(0, event.deltaY); }, { passive: false });
