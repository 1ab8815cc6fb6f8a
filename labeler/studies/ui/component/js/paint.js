// Draws one item on a canvas. Position, label and dash distinguish the runs, so the picture is readable in greyscale.

import {
  BAND, BEYOND, DOT, INK, LABEL_STEP, SOFT, axisLabels, bottomUp, frame, grid, inTurn, inside, labelStyle, line,
  percentLabels, plotOf, pooledMedian, style, text, widthOf,
} from "./ink.js";
import {
  SHORT_RUN, axisTicks, beyond, cut, laneOf, outside, percentText, scale, shareText, tickText, ticks, unitFor,
  windowOf,
} from "./layout.js";
import { distributions, spread } from "./sides.js";

const LEAST_BAR = 1.5;

/** Draw one item. `view`: axis, log, overlay and `run` (highlighted); `showsNumbers`: titles include medians. */
export function paint(context, picture, geometry, view, showsNumbers = false) {
  const limits = picture.axes[view.axis];
  const y = scale(limits, view.log);
  const isLog = view.log && limits[1] > 0;
  const shared = { context, picture, limits, y, view, isLog, showsNumbers };
  if (view.overlay) overlay(shared, geometry.panels[0]);
  else {
    geometry.panels.forEach((panel, i) => run(shared, panel, i));
    titles(shared, geometry.panels);
  }
  spread(shared, geometry.bars);
  distributions(shared, geometry.ecdf);
}

/** Draw the runs side by side and very small, so that the reviewer recognises the item. */
export function thumbnail(context, picture, width, height) {
  const limits = picture.axes[picture.rule];
  const shared = { context, picture, limits, y: scale(limits, false) };
  const step = width / picture.runs.length;
  picture.runs.forEach((series, i) => {
    const panel = { x: i * step, y: 0, w: step - 2, h: height };
    inside(context, panel, () => {
      band(shared, panel, series);
      line(context, cut(medianLine(shared, panel, series), panel), { colour: INK });
    });
    frame(context, panel);
  });
}

function run(shared, panel, index) {
  const { picture, view, context } = shared;
  const series = picture.runs[index];
  axes(shared, panel);
  inside(context, plotOf(panel), () => {
    if (series.n >= SHORT_RUN) {
      if (!areIterations(series)) dots(shared, panel, series);
      band(shared, panel, series);
      if (areIterations(series)) dots(shared, panel, series);
    }
    pooledMedian(shared, panel);
  });
  inside(context, panel, () => {
    if (series.n < SHORT_RUN) points(shared, panel, series);
    else line(context, cut(medianLine(shared, panel, series), panel), { colour: INK, width: 1.8 });
    bars(shared, panel, series);
  });
  medianMark(shared, panel, series);
  frame(context, panel, view.run === index);
}

/** The titles of all panels in the longest wording for which each panel has room. */
function titles(shared, panels) {
  const { context, picture } = shared;
  const [bold, plain] = [{ weight: 600 }, { align: "right", colour: SOFT, size: 11 }];
  const fits = ([name, remarks], { w }) =>
    widthOf(context, name, bold) + widthOf(context, remarks, plain) + 6 <= w;
  const wordings = panels.map((_, index) => wordingsOf(shared, picture.runs[index], index));
  const fitting = wordings[0].findIndex((_, n) => panels.every((panel, i) => fits(wordings[i][n], panel))); // -1: last
  panels.forEach((panel, i) => {
    const [name, remarks] = wordings[i].at(fitting);
    text(context, name, panel.x, panel.y - 5, bold);
    text(context, remarks, panel.x + panel.w, panel.y - 5, plain);
  });
}

/** The title of a run, from long to short: its shares beyond the axis, and its median if the study shows numbers. */
function wordingsOf({ picture, view, isLog, showsNumbers }, series, index) {
  const median = series.quantiles[picture.percentiles.indexOf(50)] / picture.median - 1;
  const number = showsNumbers && picture.median > 0 ? percentText(median, 0.001) : "";
  const shares = outside(picture, series, view.axis, isLog);
  const beside = shares
    .map((share, i) => share && `${"▲▼"[i]} ${shareText(share)}`)
    .filter(Boolean)
    .join(" ");
  const both = `${number} ${beside}`.trim();
  return [
    [`Run ${index + 1}`, number ? `median ${both}` : both],
    [`Run ${index + 1}`, both],
    [String(index + 1), both],
    [String(index + 1), number || beside],
    [String(index + 1), ""],
  ];
}

/** Lanes, lines at round shares of the median, and labels for the first and last panel of a row. */
export function axes(shared, panel) {
  const { context, picture, limits, y, view } = shared;
  const at = grid(shared, panel);
  if (panel.isFirst) {
    const [values, step] = axisTicks(limits, view.log, at.wanted);
    const unit = unitFor(picture.median, picture.unit);
    for (const value of values) {
      const height = bottomUp(panel, y(value));
      line(context, [[panel.x - 4, height], [panel.x, height]], { colour: SOFT });
      const words = tickText(value, step, unit);
      text(context, words, panel.x - 7, height + 4, { align: "right", size: 11, room: panel.x - 9 });
    }
  }
  if (panel.isLast) percentLabels(shared, panel, at, panel.x + panel.w + 11, "left");
  if (panel.isBottom) iterations(shared, panel);
}

/** Numbers of iterations under a panel, with a thin space between thousands. `xOf`: where a number is, if not usual. */
function iterations({ context, picture, xOf, shown = [0, picture.n] }, panel) {
  const [from, to] = xOf ? shown.map((place) => place - 0.5) : shown; // a position is in the middle of its place
  const { names } = picture; // of versions, if they are not hidden
  const marks = ticks(from, to, panel.w / (names ? 90 : 45)).filter((n) => Number.isInteger(n));
  const write = (n) => (names ? names[n] ?? "" : String(n).replace(/\B(?=(\d{3})+$)/gu, "\u2009"));
  const place = xOf ?? ((n) => panel.x + (n / picture.n) * panel.w);
  axisLabels(context, panel, marks.map((n) => [place(n), write(n)]));
}

/** Whether each bin is one iteration. Then all iterations are drawn, because the run has only a few windows. */
function areIterations(series) {
  return series.n === series.low.length;
}

/** Dots: the ends of bins outside the middle half of their window, if they are on the axis. */
function dots({ context, picture, limits, y }, panel, series) {
  const [n, nWindows] = [series.low.length, series.medians.length];
  const isEach = areIterations(series);
  const width = (series.n / picture.n) * panel.w;
  const size = isEach ? 2 : 1.5;
  context.fillStyle = isEach ? INK : DOT;
  context.globalAlpha = 0.6;
  const dot = (i, value) => {
    if (value < limits[0] || value > limits[1]) return;
    const [left, top] = [panel.x + ((i + 0.5) / n) * width, bottomUp(panel, y(value))];
    context.fillRect(left - size / 2, top - size / 2, size, size);
  };
  for (let i = 0; i < n; i += 1) {
    const window = windowOf(i, n, nWindows);
    if (isEach || series.high[i] > series.upper[window]) dot(i, series.high[i]);
    if (!isEach && series.low[i] < series.lower[window]) dot(i, series.low[i]);
  }
  context.globalAlpha = 1;
}

/** The band: the middle half of each window. */
function band({ context, picture, y }, panel, series) {
  const n = series.lower.length;
  const width = (series.n / picture.n) * panel.w;
  context.fillStyle = BAND;
  for (let i = 0; i < n; i += 1) {
    const top = bottomUp(panel, y(series.upper[i]));
    const bottom = bottomUp(panel, y(series.lower[i]));
    // single rectangles are twice as fast as one path with all of them
    context.fillRect(panel.x + (i / n) * width, top, width / n + 0.3, Math.max(bottom - top, 1));
  }
}

/** A line through the median of each window, from the start of the run to its end. */
function medianLine({ picture, y }, panel, series) {
  const n = series.medians.length;
  const width = (series.n / picture.n) * panel.w;
  const place = (value, i) => [panel.x + ((i + 0.5) / n) * width, bottomUp(panel, y(value))];
  const middles = Array.from(series.medians, place);
  return [[panel.x, middles[0][1]], ...middles, [panel.x + width, middles.at(-1)[1]]];
}

function points({ context, picture, y }, panel, series) {
  context.fillStyle = INK;
  series.medians.forEach((value, i) => {
    context.beginPath();
    context.arc(panel.x + ((i + 0.5) / picture.n) * panel.w, bottomUp(panel, y(value)), 2.2, 0, 2 * Math.PI);
    context.fill();
  });
}

/** Bars in the lanes: the share of each window beyond the axis. */
function bars({ context, picture, view, isLog }, panel, series) {
  const lane = laneOf(panel);
  const width = (series.n / picture.n) * panel.w;
  beyond(picture, series, view.axis, isLog).forEach((shares, isBelow) => {
    const step = width / shares.length;
    shares.forEach((share, i) => {
      if (share === 0) return;
      const height = Math.max(share * lane, LEAST_BAR);
      context.fillStyle = share > 0.5 ? INK : BEYOND;
      const top = isBelow ? panel.y + panel.h - lane : panel.y + lane - height;
      context.fillRect(panel.x + i * step, top, Math.max(step, 1), height);
    });
  });
}

/** A mark to the right of the panel at the median of the run. */
function medianMark({ context, picture, y }, panel, series) {
  const share = Math.min(Math.max(y(series.quantiles[picture.percentiles.indexOf(50)]), 0), 1);
  const [x, at] = [panel.x + panel.w + 2, bottomUp(panel, share)];
  context.fillStyle = INK;
  context.beginPath();
  context.moveTo(x, at);
  context.lineTo(x + 6, at - 4);
  context.lineTo(x + 6, at + 4);
  context.fill();
}

/** The window medians of all runs in one panel, which shows best when steps happen. */
function overlay(shared, panel) {
  const { context, picture, view } = shared;
  axes(shared, panel);
  inside(context, panel, () => {
    pooledMedian(shared, panel);
    inTurn(picture.runs, view.run, (series, i) => {
      line(context, cut(medianLine(shared, panel, series), panel), style(i, view.run));
    });
  });
  frame(context, panel);
  lineLabels(shared, panel);
  text(context, "Medians of all runs", panel.x, panel.y - 5, { weight: 600 });
  legend(context, panel, picture.runs.length, view.run);
}

/** The number of each run at the end of its line, so that readers need not distinguish colours. */
function lineLabels(shared, panel) {
  const { picture, view, context } = shared;
  const ends = picture.runs
    .map((series, i) => ({ i, at: medianLine(shared, panel, series).at(-1) }))
    .sort((a, b) => a.at[1] - b.at[1]);
  const top = panel.y + LABEL_STEP;
  let last = top - LABEL_STEP;
  ends.forEach((end, rank) => {
    const lowest = panel.y + panel.h - (ends.length - 1 - rank) * LABEL_STEP - 2;
    last = Math.min(Math.max(end.at[1] + 4, last + LABEL_STEP), lowest);
    const x = Math.min(end.at[0] + 3, panel.x + panel.w - 16);
    text(context, String(end.i + 1), x, last, { ...labelStyle(end.i, view.run), halo: true });
  });
}

function legend(context, panel, n, standsOut) {
  const step = Math.min(52, (panel.w - 150) / n);
  if (step < 42) return; // the numbers at the ends of the lines are enough
  for (let i = 0; i < n; i += 1) {
    const x = panel.x + panel.w - (n - i) * step;
    line(context, [[x, panel.y - 9], [x + 20, panel.y - 9]], style(i, standsOut));
    text(context, String(i + 1), x + 24, panel.y - 5, { size: 11 });
  }
}
