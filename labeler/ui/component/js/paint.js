// Draws one item on a canvas. Told apart by place, label and dash; readable in greyscale.

import { SHORT_RUN, axisTicks, cut, outside, percentText, scale, tickText, ticks, unitFor } from "./layout.js";

const INK = "#12233d";
const BAND = "#9dbcd9";
const BOX = "#9dbcd9";
const GRID = "#e4e8ee";
const FRAME = "#aab3c0";
const FADED = "#cfd6df";
const SOFT = "#5b6677";
const EDGE = "#b3261e";
const INSET = 6;
const TICK = 5;
const LABEL_STEP = 11;
const FONT = "system-ui, sans-serif";
const DASHES = [[], [7, 3], [2, 2], [9, 3, 2, 3], [4, 4]];
const INKS = ["#12233d", "#b35806", "#1f78b4", "#7b3294", "#5b6677"];

/** One item. `view`: axis, log, overlay, and `run`, the one to stand out; `showsNumbers`: medians in the titles. */
export function paint(context, picture, geometry, view, showsNumbers = false) {
  const limits = picture.axes[view.axis];
  const y = scale(limits, view.log);
  const shared = { context, picture, limits, y, view, showsNumbers };
  context.clearRect(0, 0, geometry.width, geometry.height);
  if (view.overlay) overlay(shared, geometry.panels[0]);
  else geometry.panels.forEach((panel, i) => run(shared, panel, i));
  spread(shared, geometry.bars);
  distributions(shared, geometry.ecdf);
}

function run(shared, panel, index) {
  const { context, picture, view } = shared;
  const series = picture.runs[index];
  axes(shared, panel);
  inside(context, panel, () => {
    if (series.n < SHORT_RUN) points(shared, panel, series);
    else band(shared, panel, series);
  });
  edges(shared, panel, series);
  frame(context, panel, view.run === index);
  title(shared, panel, series, index);
}

/** Above a panel: which run, how many marks lie outside the axis, and the median where the study shows numbers. */
function title({ context, picture, view, showsNumbers }, panel, series, index) {
  const [above, below] = outside(series, view.axis, picture);
  const median = series.quantiles[picture.percentiles.indexOf(50)] / picture.median - 1;
  const number = showsNumbers && picture.median > 0 ? percentText(median, 0.001) : "";
  const counts = [above ? `▲${above}` : "", below ? `▼${below}` : ""].filter(Boolean).join(" ");
  const both = `${number} ${counts}`.trim();
  const wordings = [
    [`Run ${index + 1}`, number ? `median ${both}` : both],
    [`Run ${index + 1}`, both],
    [String(index + 1), both],
    [String(index + 1), number || counts],
  ];
  const [bold, plain] = [{ weight: 600 }, { align: "right", colour: SOFT, size: 11 }];
  const fits = ([name, remarks]) => widthOf(context, name, bold) + widthOf(context, remarks, plain) + 6 <= panel.w;
  const [name, remarks] = wordings.find(fits) ?? wordings.at(-1);
  text(context, name, panel.x, panel.y - 5, bold);
  text(context, remarks, panel.x + panel.w, panel.y - 5, plain);
}

function axes({ context, picture, limits, y, view }, panel) {
  const wanted = Math.max(panel.h / 45, 3);
  const [values, step] = axisTicks(limits, view.log, wanted);
  const unit = unitFor(picture.median, picture.unit);
  for (const value of values) {
    const at = bottomUp(panel, y(value));
    line(context, [[panel.x, at], [panel.x + panel.w, at]], { colour: GRID });
    if (panel.isFirst) {
      text(context, tickText(value, step, unit), panel.x - 6, at + 4, { align: "right", size: 11, room: panel.x - 8 });
    }
  }
  if (panel.isLast && picture.median > 0) {
    const share = (value) => value / picture.median - 1;
    const shares = ticks(share(limits[0]), share(limits[1]), wanted).filter((one) => !view.log || one > -1);
    for (const tick of shares) {
      const at = bottomUp(panel, y((1 + tick) * picture.median));
      const words = percentText(tick, shares[1] - shares[0] || 0.01);
      text(context, words, panel.x + panel.w + 5, at + 4, { colour: SOFT, size: 11 });
    }
  }
}

function band({ context, picture, y }, panel, series) {
  const n = series.low.length;
  const width = (series.n / picture.n) * panel.w;
  context.fillStyle = BAND;
  for (let i = 0; i < n; i += 1) {
    const top = bottomUp(panel, y(series.high[i]));
    const bottom = bottomUp(panel, y(series.low[i]));
    // single rectangles are drawn fast; one path of all of them takes twice as long
    context.fillRect(panel.x + (i / n) * width, top, Math.max(width / n, 0.7), Math.max(bottom - top, 1));
  }
  pooledMedian(context, picture, y, panel);
  line(context, cut(medianLine(picture, y, panel, series), panel), { colour: INK, width: 1.8 });
}

function medianLine(picture, y, panel, series) {
  const n = series.medians.length;
  const width = (series.n / picture.n) * panel.w;
  return Array.from(series.medians, (value, i) => [panel.x + ((i + 0.5) / n) * width, bottomUp(panel, y(value))]);
}

function points({ context, picture, y }, panel, series) {
  pooledMedian(context, picture, y, panel);
  context.fillStyle = INK;
  series.medians.forEach((value, i) => {
    context.beginPath();
    context.arc(panel.x + ((i + 0.5) / picture.n) * panel.w, bottomUp(panel, y(value)), 2.2, 0, 2 * Math.PI);
    context.fill();
  });
}

function pooledMedian(context, picture, y, panel) {
  const at = bottomUp(panel, y(picture.median));
  line(context, [[panel.x, at], [panel.x + panel.w, at]], { colour: SOFT, dash: [4, 3] });
}

/** Red marks at the edge where measurements lie outside the axis. */
function edges({ context, picture, limits, view }, panel, series) {
  const n = series.low.length;
  const length = (series.n / picture.n) * panel.w;
  const [above, below] = outside(series, view.axis, picture);
  const [lowest, highest] = limits.map(Math.fround); // as exact as the bins are
  const isBelow = (value) => (below > 0 && value <= lowest) || (view.log && highest > 0 && value <= 0);
  context.fillStyle = EDGE;
  for (let i = 0; i < n; i += 1) {
    const x = panel.x + ((i + 0.5) / n) * length;
    if (above > 0 && series.high[i] >= highest) context.fillRect(x - 1, panel.y, 2, TICK);
    if (isBelow(series.low[i])) context.fillRect(x - 1, panel.y + panel.h - TICK, 2, TICK);
  }
}

/** The window medians of all runs in one panel: best for the timing of steps. */
function overlay(shared, panel) {
  const { context, picture, y, view } = shared;
  axes(shared, panel);
  inside(context, panel, () => {
    pooledMedian(context, picture, y, panel);
    inTurn(picture.runs, view.run, (series, i) => {
      line(context, cut(medianLine(picture, y, panel, series), panel), style(i, view.run));
    });
  });
  frame(context, panel);
  lineLabels(shared, panel);
  text(context, "Medians of all runs", panel.x, panel.y - 5, { weight: 600 });
  legend(context, panel, picture.runs.length, view.run);
}

/** The number of each run where its line ends, so that nobody has to tell lines apart by their colour. */
function lineLabels({ context, picture, y, view }, panel) {
  const ends = picture.runs
    .map((series, i) => ({ i, at: medianLine(picture, y, panel, series).at(-1) }))
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

function labelStyle(i, standsOut) {
  return { size: 11, weight: i === standsOut ? 700 : 600, colour: style(i, standsOut).colour };
}

/** Line of run i; once a run stands out the others step back. */
function style(i, standsOut) {
  const dash = DASHES[Math.floor(i / INKS.length) % DASHES.length];
  if (standsOut === null) return { colour: INKS[i % INKS.length], dash, width: 1.5 };
  return i === standsOut ? { colour: INK, width: 3 } : { colour: FADED, dash, width: 1 };
}

/** Draw every run, the one that stands out last, on top. */
function inTurn(runs, standsOut, draw) {
  runs.forEach((series, i) => i !== standsOut && draw(series, i));
  if (standsOut !== null) draw(runs[standsOut], standsOut);
}

function legend(context, panel, n, standsOut) {
  const step = Math.min(52, (panel.w - 150) / n);
  if (step < 42) return; // the numbers at the ends of the lines say the same
  for (let i = 0; i < n; i += 1) {
    const x = panel.x + panel.w - (n - i) * step;
    line(context, [[x, panel.y - 9], [x + 20, panel.y - 9]], style(i, standsOut));
    text(context, String(i + 1), x + 24, panel.y - 5, { size: 11 });
  }
}

/** Quantile bars on the same scale: 5 to 95 %, 25 to 75 %, median. */
function spread({ context, picture, y, view }, panel) {
  heading(context, panel, ["Spread per run: 5–95 %, 25–75 %, median", "Spread per run", "Spread"]);
  const to = (series, percentile) => bottomUp(panel, y(series.quantiles[picture.percentiles.indexOf(percentile)]));
  const step = panel.w / picture.runs.length;
  inside(context, panel, () => {
    pooledMedian(context, picture, y, panel);
    picture.runs.forEach((series, i) => {
      const x = panel.x + (i + 0.5) * step;
      line(context, cut([[x, to(series, 5)], [x, to(series, 95)]], panel), { colour: SOFT, width: 1.5 });
      context.fillStyle = view.run === null || view.run === i ? BOX : FADED;
      const [top, middle] = [to(series, 75), to(series, 50)];
      context.fillRect(x - step * 0.3, top, step * 0.6, Math.max(to(series, 25) - top, 1));
      line(context, [[x - step * 0.36, middle], [x + step * 0.36, middle]], { colour: INK, width: 2.2 });
    });
  });
  frame(context, panel);
  const every = Math.ceil((widthOf(context, String(picture.runs.length), { size: 11 }) + 1) / step);
  picture.runs.forEach((_, i) => {
    if (i % every) return;
    const weight = view.run === i ? 700 : 400;
    const at = panel.x + (i + 0.5) * step;
    text(context, String(i + 1), at, panel.y + panel.h + 13, { align: "center", size: 11, weight });
  });
}

/** The empirical distribution functions of all runs. */
function distributions({ context, picture, limits, y, view }, panel) {
  heading(context, panel, ["Share of iterations up to a value", "Distribution"]);
  const x = (value) => panel.x + y(value) * panel.w;
  inside(context, panel, () => {
    inTurn(picture.runs, view.run, (series, i) => {
      const share = (p) => bottomUp(panel, picture.percentiles[p] / 100);
      const curve = Array.from(series.quantiles, (value, p) => [x(value), share(p)]);
      const ends = [[panel.x, bottomUp(panel, 0)], [panel.x + panel.w, bottomUp(panel, 1)]];
      line(context, cut([ends[0], ...curve, ends[1]], panel), style(i, view.run));
    });
  });
  frame(context, panel);
  const [values, step] = axisTicks(limits, view.log, panel.w / 75);
  const unit = unitFor(picture.median, picture.unit);
  axisLabels(context, panel, values.map((value) => [x(value), tickText(value, step, unit)]));
}

/** Labels under a panel, kept inside it; one that would touch the label before it is left out. */
function axisLabels(context, panel, labels) {
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

/** The longest of the wordings that fits above the panel. */
function heading(context, panel, wordings) {
  const bold = { weight: 600, size: 11 };
  const fitting = wordings.find((words) => widthOf(context, words, bold) <= panel.w) ?? wordings.at(-1);
  text(context, fitting, panel.x, panel.y - 5, bold);
}

/** A share of the axis as a height. The axis ends a little inside the frame, or a line at its end would be hidden. */
function bottomUp(panel, share) {
  return panel.y + INSET + (panel.h - 2 * INSET) * (1 - share);
}

function inside(context, { x, y, w, h }, draw) {
  context.save();
  context.beginPath();
  context.rect(x, y, w, h);
  context.clip();
  draw();
  context.restore();
}

function frame(context, { x, y, w, h }, standsOut = false) {
  context.strokeStyle = standsOut ? INK : FRAME;
  context.lineWidth = standsOut ? 2 : 1;
  context.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
}

function line(context, path, { colour, width = 1, dash = [] }) {
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

function font({ weight = 400, size = 12 }) {
  return `${weight} ${size}px ${FONT}`;
}

function widthOf(context, words, size) {
  context.font = font(size);
  return context.measureText(words).width;
}

/** `room`: words that need more are squeezed into it. */
function text(context, words, x, y, { align = "left", colour = INK, size = 12, weight = 400, halo, room } = {}) {
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
