// A picture is a list of panels, which the server sends. Each kind of panel has its own functions in `KINDS`.

import { STRIP_HEIGHT, WIDE, arrange, runAt, summary, unpack } from "./layout.js";
import { INK, text } from "./ink.js";
import { paint, thumbnail } from "./paint.js";
import * as means from "./means.js";
import * as points from "./points.js";
import { legendWords } from "./words.js";

const KINDS = {
  runs: { unpack, arrange, paint, thumbnail, runAt, summary, legend: legendWords, count: ({ runs }) => runs.length },
  points,
  means,
};
const MIN_BESIDE = 430; // panels that would be narrower are below each other
const BETWEEN = 12;
const HEADING = 22; // height of the title of a panel
const BASELINE = 15;

/** Decode the numbers of all panels. */
export function unpackAll(panels) {
  return panels.map((panel) => kindOf(panel).unpack(panel));
}

/** The number of runs in all panels. */
export function nRunsOf(panels) {
  return panels.reduce((sum, panel) => sum + kindOf(panel).count(panel), 0);
}

/**
 * The layout: `parts`, one per panel, with its position, its geometry, and the number of runs in the panels before it.
 * Panels are beside each other if there is space; narrow ones have a fixed width. `height`: for all panels together.
 */
export function arrangeAll(panels, width, height, overlay) {
  const [narrow, others] = [panels.filter(isNarrow), panels.filter((panel) => !isNarrow(panel))];
  const n = others.length;
  const space = narrow.reduce((left, panel) => left - kindOf(panel).narrow - BETWEEN, width);
  const isBeside = space / n >= MIN_BESIDE;
  const each = isBeside ? (space - BETWEEN * (n - 1)) / n : width;
  const heading = panels.some(({ title }) => title) ? HEADING : 0;
  const under = n > 1 && each < WIDE ? STRIP_HEIGHT : 0; // of the distributions, which are then below the runs
  const room = (isBeside ? height : (height - BETWEEN * (n - 1)) / n) - heading - under;
  let [x, y, before] = [0, 0, 0];
  const parts = panels.map((panel) => {
    const [kind, own] = [kindOf(panel), isNarrow(panel)];
    const count = kind.count(panel);
    const wide = own && isBeside ? kind.narrow : each;
    const geometry = kind.arrange(wide, own ? (isBeside ? room : kind.low) : room, count, overlay);
    const part = { x, y: y + heading, before, geometry };
    if (isBeside) x += wide + BETWEEN;
    else y += heading + geometry.height + BETWEEN;
    before += count;
    return part;
  });
  return { parts, width, height: Math.max(...parts.map((part) => part.y + part.geometry.height)) };
}

/** Draw all panels. `view`: axis, log, overlay and `run` (highlighted, counted over all panels). */
export function paintAll(context, panels, { parts, width, height }, view, showsNumbers = false) {
  context.clearRect(0, 0, width, height);
  context.fillStyle = "#fff";
  context.fillRect(0, 0, width, height);
  panels.forEach((panel, i) => {
    const { x, y, before, geometry } = parts[i];
    const run = isIn(view.run, before, panel) ? view.run - before : null;
    context.save();
    context.translate(x, y);
    if (panel.title) text(context, panel.title, 0, BASELINE - HEADING, { colour: INK, size: 14, weight: 650 });
    kindOf(panel).paint(context, panel, geometry, { ...view, run }, showsNumbers);
    context.restore();
  });
}

/** Draw all panels side by side and very small. */
export function thumbnailOf(context, panels, width, height) {
  const n = nRunsOf(panels) || panels.length;
  context.clearRect(0, 0, width, height);
  let x = 0;
  panels.forEach((panel) => {
    const own = isNarrow(panel) ? 0 : (width * (kindOf(panel).count(panel) || 1)) / n;
    context.save();
    context.translate(x, 0);
    kindOf(panel).thumbnail(context, panel, own, height);
    context.restore();
    x += own;
  });
}

/** The run at a point of the canvas, counted over all panels, or null. */
export function runOf(panels, { parts }, x, y) {
  const runs = parts.map((part, i) => {
    const run = kindOf(panels[i]).runAt(part.geometry, x - part.x, y - part.y);
    return run === null ? null : part.before + run;
  });
  return runs.find((run) => run !== null) ?? null;
}

/** The alternative text of a picture. */
export function summaryOf(panels) {
  return panels.map((panel) => [panel.title, kindOf(panel).summary(panel)].filter(Boolean).join(": ")).join(" ");
}

/** The line below the picture that explains its marks, in at most `room` letters if possible. */
export function legendOf([first], room) {
  return kindOf(first).legend(first, room);
}

/** Whether a panel has a fixed width beside the others. */
function isNarrow(panel) {
  return "narrow" in kindOf(panel);
}

function isIn(run, before, panel) {
  return run !== null && run >= before && run < before + kindOf(panel).count(panel);
}

function kindOf({ kind }) {
  if (!(kind in KINDS)) throw new Error(`A panel has the unknown kind ${kind}. Reload the page to continue.`);
  return KINDS[kind];
}
