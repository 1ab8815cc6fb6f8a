// Draws the marks of a series above its picture: cursor, marks, and large the points around the cursor.
// Marks differ from the cursor, and the known marks of a practice item from the reviewer's, also without colour.

import { BEYOND, INK, SOFT, bottomUp, frame, inside, line, plotOf, text } from "./ink.js";
import { axisTicks, scale, tickText, unitFor } from "./layout.js";
import { xAt } from "./points.js";

const FLAG = 7; // size of the triangle at the top of a mark
const PAPER = "#fff";
const RANGE = "rgba(31, 90, 148, 0.16)";
const AROUND = 12; // points on each side of the cursor
const LOUPE_SPACE = [62, 24, 8, 16]; // left, right, top and bottom

/**
 * The values of a panel by position: {at(position): list, middle(position): median or NaN}. The values are in the order
 * of their positions.
 */
export function seriesOf({ values, at, n }) {
  const ends = new Uint32Array(n);
  at.forEach((position, i) => (ends[position] = i + 1));
  for (let i = 1; i < n; i += 1) ends[i] = Math.max(ends[i], ends[i - 1]);
  const of = (position) => Array.from(values.subarray(position ? ends[position - 1] : 0, ends[position]));
  const middle = (position) => {
    const inOrder = of(position).sort((a, b) => a - b);
    if (!inOrder.length) return NaN;
    const half = Math.floor(inOrder.length / 2);
    return inOrder.length % 2 ? inOrder[half] : (inOrder[half - 1] + inOrder[half]) / 2;
  };
  return { at: of, middle };
}

/** The place at an x coordinate; the middle of point i is at i + 0.5. */
export function placeAt({ panel }, [from, to], x) {
  return from + ((x - panel.x) / panel.w) * (to - from);
}

/** The value at a y coordinate. */
export function valueAt({ panel }, [low, high], { log }, y) {
  const plot = plotOf(panel);
  const share = 1 - (y - plot.y) / plot.h;
  if (!log || high <= 0) return low + share * (high - low);
  const bottom = Math.max(low, high * 1e-6);
  return bottom * (high / bottom) ** share;
}

/** Clear a canvas and set its size; returns its context. */
export function layer(canvas, { width, height }) {
  const density = window.devicePixelRatio || 1;
  Object.assign(canvas, { width: Math.round(width * density), height: Math.round(height * density) });
  [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
  const context = canvas.getContext("2d");
  context.scale(density, density);
  return context;
}

/** Draw on a canvas above a picture of one panel (see `paintMarks`); returns its context. */
export function paintAbove(canvas, { geometry, panels: [panel], view }, drawn, series = null) {
  const [part] = geometry.parts;
  const context = layer(canvas, geometry);
  context.translate(part.x, part.y);
  paintMarks(context, panel, part.geometry, view, drawn, series);
  return context;
}

/**
 * Draw the marks, the known marks of a practice item, and the cursor.
 * drawn: {marks, cursor, begin, shown, current, kinds, truth}; a mark can have a note. view: axis, log, perhaps span.
 */
export function paintMarks(context, picture, geometry, view, drawn, series) {
  const { panel } = geometry;
  const { shown, cursor, begin, marks, truth } = drawn;
  const x = (point) => xAt(geometry, shown, point);
  inside(context, { ...panel, y: 0, h: panel.y + panel.h }, () => {
    (truth ?? []).forEach((mark) => known(context, panel, x(mark)));
    marks.forEach((mark) => flag(context, panel, x, mark, { isCurrent: mark === drawn.current, kinds: drawn.kinds }));
    if (begin !== null) band(context, panel, x(Math.min(begin, cursor)), x(Math.max(begin, cursor)));
    if (cursor !== null) {
      const limits = view.span ?? picture.axes[view.axis];
      const share = scale(limits, view.log)(series.middle(cursor));
      pointer(context, panel, x(cursor), Number.isFinite(share) ? bottomUp(panel, share) : null);
    }
  });
}

/** The rectangle that the mouse surrounds. */
export function paintSelection(context, { panel }, { from, to }) {
  context.save();
  context.strokeStyle = INK;
  context.fillStyle = RANGE;
  context.setLineDash([4, 3]);
  const [x, y] = [0, 1].map((k) => Math.min(from[k], to[k]));
  const [w, h] = [0, 1].map((k) => Math.abs(from[k] - to[k]));
  inside(context, panel, () => context.fillRect(x, y, w, h));
  context.strokeRect(x, y, w, h);
  context.restore();
}

/** Draw the points around the cursor so large that each can be told apart. */
export function paintLoupe(context, width, height, picture, series, { cursor, marks, kinds }) {
  const [left, right, top, bottom] = LOUPE_SPACE;
  const panel = { x: left, y: top, w: width - left - right, h: height - top - bottom };
  context.fillStyle = PAPER;
  context.fillRect(0, 0, width, height);
  frame(context, panel);
  if (cursor === null) {
    const words = "The points around the cursor appear here.";
    text(context, words, panel.x + 8, panel.y + panel.h / 2 + 4, { colour: SOFT });
    return;
  }
  const length = Math.min(2 * AROUND + 1, picture.n);
  const from = Math.min(Math.max(cursor - AROUND, 0), picture.n - length);
  const points = Array.from({ length }, (_, i) => from + i);
  const values = points.flatMap((point) => series.at(point));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const reach = (high - low || Math.abs(high) || 1) * 0.12;
  const y = scale([low - reach, high + reach], false);
  const yOf = (value) => panel.y + panel.h * (1 - y(value));
  const x = (point) => xAt({ panel }, [from, from + length], point);
  const unit = unitFor(picture.median, picture.unit);
  const [ticks, step] = axisTicks([low - reach, high + reach], false, 2);
  ticks.slice(0, 3).forEach((value) => {
    text(context, tickText(value, step, unit), left - 6, yOf(value) + 4, { align: "right", size: 11, room: left - 8 });
  });
  inside(context, panel, () => {
    marks.forEach((mark) => flag(context, panel, x, mark, { isCurrent: false, kinds }));
    pointer(context, panel, x(cursor), null);
    context.fillStyle = INK;
    points.forEach((point) => series.at(point).forEach((value) => disc(context, x(point), yOf(value), 2.4)));
  });
  const every = Math.max(1, Math.ceil((String(picture.n).length * 8) / (panel.w / length)));
  points.filter((point) => (point - cursor) % every === 0).forEach((point) => {
    const weight = point === cursor ? 700 : 400;
    text(context, String(point), x(point), panel.y + panel.h + 13, { align: "center", size: 11, weight });
  });
}

/** A mark: a line with a full triangle, or a band from the first to the last point. */
function flag(context, panel, x, { first, last, kind, note }, { isCurrent, kinds }) {
  const at = x(first);
  if (first !== last) band(context, panel, at, x(last));
  line(context, [[at, panel.y], [at, panel.y + panel.h]], { colour: BEYOND, width: isCurrent ? 3 : 2 });
  context.fillStyle = BEYOND;
  context.beginPath();
  context.moveTo(at - FLAG, panel.y);
  context.lineTo(at + FLAG, panel.y);
  context.lineTo(at, panel.y + FLAG * 1.4);
  context.fill();
  const words = note ?? kinds?.find(({ name }) => name === kind)?.key.toUpperCase();
  if (words) text(context, words, at, panel.y - 4, { align: "center", size: 11, weight: 700, colour: BEYOND });
}

/** A known mark of a practice item: a dashed line with an empty triangle at the bottom. */
function known(context, panel, at) {
  const bottom = panel.y + panel.h;
  line(context, [[at, panel.y], [at, bottom]], { colour: INK, width: 2, dash: [6, 4] });
  line(context, [[at - FLAG, bottom], [at, bottom - FLAG * 1.4], [at + FLAG, bottom]], { colour: INK, width: 2 });
}

function band(context, panel, from, to) {
  context.fillStyle = RANGE;
  context.fillRect(from, panel.y, to - from, panel.h);
  const ends = { colour: BEYOND, dash: [3, 3] };
  [from, to].forEach((at) => line(context, [[at, panel.y], [at, panel.y + panel.h]], ends));
}

/** The cursor: a thin dashed line with a ring at the value of its point. */
function pointer(context, panel, at, y) {
  line(context, [[at, panel.y], [at, panel.y + panel.h]], { colour: SOFT, dash: [3, 3] });
  context.fillStyle = SOFT;
  context.beginPath();
  context.moveTo(at - 5, panel.y + panel.h);
  context.lineTo(at + 5, panel.y + panel.h);
  context.lineTo(at, panel.y + panel.h - 7);
  context.fill();
  if (y === null) return;
  context.strokeStyle = INK;
  context.lineWidth = 2;
  context.beginPath();
  context.arc(at, y, 5, 0, 2 * Math.PI);
  context.stroke();
}

function disc(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
}
