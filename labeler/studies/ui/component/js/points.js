// A panel of points: values by position (versions or iterations), and a line; see labeler/studies/screen/points.py.

import { BEYOND, DOT, INK, SOFT, bottomUp, frame, inside, line, plotOf, pooledMedian, text } from "./ink.js";
import { cut, decode, laneOf, scale, shareText, unitFor } from "./layout.js";
import { axes } from "./paint.js";

const [LEFT, RIGHT, TOP, BOTTOM] = [62, 46, 18, 18];
const ASPECT = 2.2; // width by height, the same in all windows, so that slopes look the same
const MAX_DOTS = 400; // with more points, dots are small
const MAX_SINGLE = 20_000; // with more points, each column of pixels shows its lowest and highest value

/** Decode the numbers of a panel: `values` at the positions `at`, and the line `middles`. */
export function unpack(panel) {
  const values = decode(panel.values, panel.scale);
  const at = panel.at ? decode(panel.at) : Float32Array.from(values, (_, i) => i);
  return { ...panel, values, at, middles: decode(panel.middles, panel.scale) };
}

/** No runs can be highlighted. */
export function count() {
  return 0;
}

/** One panel as large as the room allows at a fixed aspect. */
export function arrange(width, height) {
  const w = Math.min(width - LEFT - RIGHT, (height - TOP - BOTTOM) * ASPECT);
  const panel = { x: LEFT, y: TOP, w, h: w / ASPECT, isFirst: true, isLast: true, isBottom: true };
  return { panel, width, height: TOP + panel.h + BOTTOM };
}

export function runAt() {
  return null;
}

/** The x coordinate of the middle of a position, if the panel shows the positions [from, to). */
export function xAt({ panel }, [from, to], position) {
  return panel.x + ((position + 0.5 - from) / (to - from)) * panel.w;
}

/** Draw the panel, or its part `view.shown` and `view.span`. In the overlay, only the line is drawn. */
export function paint(context, picture, geometry, view) {
  const { panel } = geometry;
  const shared = shareOf(context, picture, geometry, view);
  axes(shared, panel);
  inside(context, plotOf(panel), () => pooledMedian(shared, panel));
  inside(context, panel, () => {
    if (!view.overlay) dots(shared, panel);
    line(context, cut(middleLine(shared, panel), panel), { colour: INK, width: 1.6 });
  });
  const beyond = outside(shared, panel);
  frame(context, panel);
  const shares = beyond.map((n, i) => n && `${"▲▼"[i]} ${shareText(n / picture.values.length)}`).filter(Boolean);
  text(context, shares.join(" "), panel.x + panel.w, panel.y - 5, { align: "right", colour: SOFT, size: 11 });
}

/** Draw the panel very small. */
export function thumbnail(context, picture, width, height) {
  const panel = { x: 0, y: 0, w: width - 2, h: height };
  const shared = shareOf(context, picture, { panel }, { axis: picture.rule, log: false });
  inside(context, panel, () => {
    dots(shared, panel);
    line(context, cut(middleLine(shared, panel), panel), { colour: INK });
  });
  frame(context, panel);
}

/** The alternative text, as neutral as the picture. */
export function summary(picture) {
  const [factor, unit] = unitFor(picture.median, picture.unit);
  const write = (value) => `${Number((value / factor).toPrecision(4))} ${unit}`.trim();
  const n = Math.min(8, picture.middles.length);
  const parts = Array.from({ length: n }, (_, i) => {
    const [from, to] = [i, i + 1].map((k) => Math.round((k / n) * picture.middles.length));
    const middles = Array.from(picture.middles.slice(from, to)).sort((a, b) => a - b);
    return write(middles[Math.floor(middles.length / 2)]);
  });
  return `${picture.n} positions, median ${write(picture.median)}. Medians of ${n} equal parts from left to right: ` +
    `${parts.join(", ")}.`;
}

/** The line below the picture that explains its marks. */
export function legend({ n, middles }) {
  const each = Math.round(n / middles.length);
  const of = each > 1 ? `median of ${each} positions` : "median at each position";
  return `Line: ${of}. Dashed: median of all. Ticks in the grey lanes: values beyond the axis.`;
}

/** What all parts of a drawing need: the scales, and the limits in both directions. */
function shareOf(context, picture, geometry, view) {
  const limits = view.span ?? picture.axes[view.axis];
  const shown = view.shown ?? [0, picture.n];
  const y = scale(limits, view.log);
  const isLog = view.log && limits[1] > 0;
  return { context, picture, limits, shown, y, xOf: (position) => xAt(geometry, shown, position), view, isLog };
}

function middleLine({ picture, y, xOf }, panel) {
  const each = picture.n / picture.middles.length;
  return Array.from(picture.middles, (value, i) => [xOf((i + 0.5) * each - 0.5), bottomUp(panel, y(value))]);
}

/** Call draw(value, position) for each value that is shown. */
function eachShown({ picture, shown: [from, to] }, draw) {
  picture.values.forEach((value, i) => {
    if (picture.at[i] >= from - 1 && picture.at[i] <= to) draw(value, picture.at[i]);
  });
}

function dots(shared, panel) {
  const { context, limits, y, xOf } = shared;
  let n = 0;
  eachShown(shared, () => (n += 1));
  if (n > MAX_SINGLE) {
    columns(shared, panel);
    return;
  }
  const isMany = n > MAX_DOTS;
  const radius = isMany ? 0.8 : 2.2;
  context.fillStyle = isMany ? DOT : INK;
  context.globalAlpha = isMany ? 0.6 : 1;
  eachShown(shared, (value, position) => {
    if (value < limits[0] || value > limits[1]) return;
    const [x, at] = [xOf(position), bottomUp(panel, y(value))];
    if (isMany) context.fillRect(x - radius, at - radius, 2 * radius, 2 * radius);
    else {
      context.beginPath();
      context.arc(x, at, radius, 0, 2 * Math.PI);
      context.fill();
    }
  });
  context.globalAlpha = 1;
}

/** Draw a bar from the lowest to the highest value of each column of pixels. */
function columns(shared, panel) {
  const { context, limits, y, xOf } = shared;
  const [lowest, highest] = [Infinity, -Infinity].map((value) => new Float64Array(Math.ceil(panel.w) + 1).fill(value));
  eachShown(shared, (value, position) => {
    if (value < limits[0] || value > limits[1]) return;
    const column = Math.floor(xOf(position) - panel.x);
    lowest[column] = Math.min(lowest[column], value);
    highest[column] = Math.max(highest[column], value);
  });
  context.fillStyle = DOT;
  lowest.forEach((low, column) => {
    if (low > highest[column]) return;
    const [top, bottom] = [highest[column], low].map((value) => bottomUp(panel, y(value)));
    context.fillRect(panel.x + column, top, 1, Math.max(bottom - top, 1));
  });
}

/** Draw a mark in a lane for each value beyond the axis; returns how many are above and below. */
function outside(shared, panel) {
  const { context, limits, isLog, xOf } = shared;
  const lane = laneOf(panel);
  const n = [0, 0];
  context.fillStyle = BEYOND;
  eachShown(shared, (value, position) => {
    const side = value > limits[1] ? 0 : value < limits[0] || (isLog && value <= 0) ? 1 : null;
    if (side === null) return;
    n[side] += 1;
    const top = side ? panel.y + panel.h - lane + 2 : panel.y + 2;
    context.fillRect(xOf(position) - 0.75, top, 1.5, lane - 4);
  });
  return n;
}
