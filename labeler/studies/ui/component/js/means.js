// The means of the runs of two sides, and how much the second side differs from the first; no test, because people
// judge.

import { BAND, INK, SOFT, bottomUp, frame, grid, inside, line, percentLabels, plotOf, text } from "./ink.js";
import { laneOf, percentText, scale, unitFor } from "./layout.js";

export const narrow = 210; // width in pixels beside other panels
export const low = 250; // height in pixels below other panels
const [LEFT, RIGHT, TOP, LINE] = [44, 8, 18, 16];
const JITTER = 0.16; // of the width of a side
const MAX_WIDE = 420;

export function unpack(panel) {
  return panel;
}

export function count() {
  return 0;
}

export function arrange(width, height) {
  const panel = { x: LEFT, y: TOP, w: Math.min(width, MAX_WIDE) - LEFT - RIGHT, h: height - TOP - 4.5 * LINE };
  return { panel, width, height };
}

export function runAt() {
  return null;
}

export function paint(context, picture, { panel }, view) {
  const limits = picture.axes[view.axis];
  const isLog = view.log && limits[1] > 0;
  const shared = { context, picture, limits, y: scale(limits, view.log), view, isLog };
  text(context, "Mean of each run", panel.x, panel.y - 5, { weight: 600 });
  percentLabels(shared, panel, grid(shared, panel), panel.x - 5, "right");
  const step = panel.w / picture.groups.length;
  picture.groups.forEach(({ name, values }, side) => {
    const x = panel.x + (side + 0.5) * step;
    inside(context, plotOf(panel), () => column(shared, panel, values, x, step));
    outside(shared, panel, values, x);
    text(context, name, x, panel.y + panel.h + LINE, { align: "center", weight: 600 });
  });
  frame(context, panel);
  difference(shared, panel);
}

export function thumbnail() {
  // the runs are enough to recognise the item
}

/** The difference in words, with the unit and the better direction. */
export function summary(picture) {
  return `${[...differenceOf(picture), picture.note].filter(Boolean).join(", ")}.`;
}

/** A dot for each run, side by side if they touch, and a line at the mean. */
function column({ context, y }, panel, values, x, step) {
  const at = bottomUp(panel, y(meanOf(values)));
  context.fillStyle = BAND;
  context.fillRect(x - step * 0.32, at - 2, step * 0.64, 4);
  context.fillStyle = INK;
  values.forEach((value, i) => {
    const left = x + ((((i * 0.618) % 1) * 2) - 1) * JITTER * step; // spread evenly, without chance
    context.beginPath();
    context.arc(left, bottomUp(panel, y(value)), 2.2, 0, 2 * Math.PI);
    context.fill();
  });
  line(context, [[x - step * 0.32, at], [x + step * 0.32, at]], { colour: INK, width: 1.5 });
}

/** How many means are above and below the axis, in the lanes. */
function outside({ context, limits }, panel, values, x) {
  const n = [values.filter((value) => value > limits[1]).length, values.filter((value) => value < limits[0]).length];
  const lane = laneOf(panel);
  const middle = [panel.y + lane - 2, panel.y + panel.h - 2];
  n.forEach((many, side) => {
    if (many) text(context, `${"▲▼"[side]} ${many}`, x, middle[side], { align: "center", size: 10, colour: SOFT });
  });
}

function difference({ context, picture }, panel) {
  [...differenceOf(picture), picture.note].filter(Boolean).forEach((words, i) => {
    const y = panel.y + panel.h + (i + 2) * LINE;
    text(context, words, panel.x + panel.w / 2, y, { align: "center", weight: i ? 400 : 650, colour: i ? SOFT : INK });
  });
}

/** How much the mean of the second side differs from the mean of the first: in per cent, and in the unit. */
function differenceOf({ groups: [first, second], median, unit }) {
  const [before, after] = [first, second].map(({ values }) => meanOf(values));
  const by = after - before;
  const [factor, name] = unitFor(median, unit);
  const decimals = Math.min(Math.max(2 - Math.floor(Math.log10(Math.abs(by / factor) || 1)), 0), 9);
  const number = `${by > 0 ? "+" : by < 0 ? "−" : ""}${Math.abs(by / factor).toFixed(decimals)} ${name}`.trim();
  if (!(before > 0)) return [`${second.name} − ${first.name}: ${number}`];
  return [`${second.name} − ${first.name}: ${percentText(by / before, 0.001)}`, number];
}

function meanOf(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
