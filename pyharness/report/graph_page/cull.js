// Only what is in sight, or nearly, is in the document: what is not costs a browser nothing, however large the graph is.
const MARGIN = 0.4; // of the stage, on each side
const LEVELS = { near: 2, far: 1, farther: 0 }; // how much text a box has
let painted = []; // [{element, into, left, top, right, bottom, shown, texts}]
let culled = null; // the part of the drawing that was in sight when that was last decided

/** `texts`: [the title, the smaller print], which come and go with the scale. */
const known = (element, into, left, top, right, bottom, texts = null) => {
  painted.push({ element, into, left, top, right, bottom, shown: false, texts, level: -1 });
  return element;
};
const levelNow = () => LEVELS[view.scale < FARTHER ? "farther" : view.scale < FAR ? "far" : "near"];
const write = (each, level) => {
  if (!each.texts || each.level === level) return;
  each.texts.forEach((parts, least) => parts.forEach(part => { if (level > least) each.element.append(part); else part.remove(); }));
  each.level = level;
};
const cull = (always = false) => {
  const box = stage(), width = box.width / view.scale, height = box.height / view.scale, level = levelNow();
  const left = -view.x / view.scale, top = -view.y / view.scale;
  const inside = culled && left >= culled.left && top >= culled.top && left + width <= culled.right && top + height <= culled.bottom;
  if (!always && inside && culled.level === level && culled.scale <= view.scale * 2) return;
  culled = { left: left - width * MARGIN, top: top - height * MARGIN, right: left + width * (1 + MARGIN), bottom: top + height * (1 + MARGIN), scale: view.scale, level };
  for (const each of painted) {
    const shown = each.right >= culled.left && each.left <= culled.right && each.bottom >= culled.top && each.top <= culled.bottom;
    if (shown) write(each, level);
    if (shown === each.shown) continue;
    if (shown) each.into.append(each.element); else each.element.remove();
    each.shown = shown;
  }
};
