// Colours, lines and text of the picture, and the common parts of its panels: lanes, grid, median of all runs.

import { axisTicks, laneOf, percentText, percentTicks } from "./layout.js";

export const INK = "#12233d";
export const BAND = "#9dbcd9";
export const DOT = "#5f86ab";
export const GRID = "#e4e8ee";
export const FRAME = "#aab3c0";
export const FADED = "#cfd6df";
export const SOFT = "#5b6677";
const LANES = "#f1f2f4";
const LANE_EDGE = "#c9ced6";
export const BEYOND = "#b35806";
export const LABEL_STEP = 11;
const FONT = "system-ui, sans-serif";
const DASHES = [[], [7, 3], [2, 2], [9, 3, 2, 3], [4, 4]];
const INKS = ["#12233d", "#b35806", "#1f78b4", "#7b3294", "#5b6677"];

/** Draw the lanes and grid lines of a panel; returns {wanted, shares, step} for its labels. */
export function grid({ context, picture, limits, y, isLog }, panel) {
  const lane = laneOf(panel);
  context.fillStyle = LANES;
  context.fillRect(panel.x, panel.y, panel.w, lane);
  context.fillRect(panel.x, panel.y + panel.h - lane, panel.w, lane);
  for (const edge of [panel.y + lane, panel.y + panel.h - lane]) {
    line(context, [[panel.x, edge], [panel.x + panel.w, edge]], { colour: LANE_EDGE });
  }
  const wanted = Math.min(Math.max(panel.h / 32, 4), 10);
  const [shares, step] = percentTicks(limits, picture.median, isLog, wanted);
  const isPositive = picture.median > 0;
  const lines = isPositive ? shares.map((share) => (1 + share) * picture.median) : axisTicks(limits, isLog, wanted)[0];
  for (const value of lines) {
    const at = bottomUp(panel, y(value));
    line(context, [[panel.x, at], [panel.x + panel.w, at]], { colour: GRID });
  }
  return { wanted, shares, step };
}

export function percentLabels({ context, picture, y }, panel, { shares, step }, x, align) {
  for (const share of shares) {
    const at = bottomUp(panel, y((1 + share) * picture.median)) + 4;
    text(context, percentText(share, step), x, at, { colour: SOFT, size: 11, align });
  }
}

export function pooledMedian({ context, picture, y }, panel) {
  const at = bottomUp(panel, y(picture.median));
  line(context, [[panel.x, at], [panel.x + panel.w, at]], { colour: SOFT, dash: [4, 3] });
}

export function labelStyle(i, standsOut) {
  return { size: 11, weight: i === standsOut ? 700 : 600, colour: style(i, standsOut).colour };
}

/** The line style of run i; if one run is highlighted, the other runs are faded. */
export function style(i, standsOut) {
  const dash = DASHES[Math.floor(i / INKS.length) % DASHES.length];
  if (standsOut === null) return { colour: INKS[i % INKS.length], dash, width: 1.5 };
  return i === standsOut ? { colour: INK, width: 3 } : { colour: FADED, dash, width: 1 };
}

/** Draw all runs; the highlighted run comes last, on top. */
export function inTurn(runs, standsOut, draw) {
  runs.forEach((series, i) => i !== standsOut && draw(series, i));
  if (standsOut !== null) draw(runs[standsOut], standsOut);
}

/** Draw labels under a panel, inside its width; a label that would touch the previous label is left out. */
export function axisLabels(context, panel, labels) {
  let free = -Infinity;
  context.font = font({ weight: 400, size: 11 });
  for (const [x, words] of labels) {
    const half = context.measureText(words).width / 2;
    const at = Math.min(x, panel.x + panel.w - half);
    if (at - half < free) continue;
    text(context, words, at, panel.y + panel.h + 13, { align: "center", size: 11 });
    free = at + half + 6;
  }
}

/** The area of a panel between its lanes. */
export function plotOf(panel) {
  const lane = laneOf(panel);
  return { x: panel.x, y: panel.y + lane, w: panel.w, h: panel.h - 2 * lane };
}

/** Convert a share of the axis to a y position; the axis reaches from lane to lane. */
export function bottomUp(panel, share) {
  const { y, h } = plotOf(panel);
  return y + h * (1 - share);
}

export function inside(context, { x, y, w, h }, draw) {
  context.save();
  context.beginPath();
  context.rect(x, y, w, h);
  context.clip();
  draw();
  context.restore();
}

export function frame(context, { x, y, w, h }, standsOut = false) {
  context.strokeStyle = standsOut ? INK : FRAME;
  context.lineWidth = standsOut ? 2 : 1;
  context.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
}

export function line(context, path, { colour, width = 1, dash = [] }) {
  context.save();
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.lineJoin = "round";
  context.setLineDash(dash);
  context.beginPath();
  path.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.stroke();
  context.restore();
}

export function font({ weight = 400, size = 12 }) {
  return `${weight} ${size}px ${FONT}`;
}

export function widthOf(context, words, size) {
  context.font = font(size);
  return context.measureText(words).width;
}

/** `room`: the maximum width; longer texts are condensed. */
export function text(context, words, x, y, { align = "left", colour = INK, size = 12, weight = 400, halo, room } = {}) {
  context.fillStyle = colour;
  context.font = font({ weight, size });
  context.textAlign = align;
  if (halo) {
    context.strokeStyle = "#fff";
    context.lineWidth = 3;
    context.strokeText(words, x, y);
  }
  context.fillText(words, x, y, room);
}
