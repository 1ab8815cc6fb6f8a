// Draws one item on a canvas. Told apart by place, label and dash; readable in greyscale.

import { SHORT_RUN, percentText, scale, tickText, ticks, unitFor } from "./layout.js";

const INK = "#12233d";
const BAND = "#9dbcd9";
const BOX = "#9dbcd9";
const GRID = "#e4e8ee";
const FRAME = "#aab3c0";
const SOFT = "#5b6677";
const EDGE = "#b3261e";
const FONT = "system-ui, sans-serif";
const DASHES = [[], [7, 3], [2, 2], [9, 3, 2, 3], [4, 4]];
const INKS = ["#12233d", "#b35806", "#1f78b4", "#7b3294", "#5b6677"];

export function paint(context, picture, geometry, view) {
  const limits = picture.axes[view.axis];
  const y = scale(limits, view.log);
  const shared = { context, picture, limits, y, view };
  context.clearRect(0, 0, geometry.width, geometry.height);
  if (view.overlay) overlay(shared, geometry.panels[0]);
  else geometry.panels.forEach((panel, i) => run(shared, panel, i));
  spread(shared, geometry.bars);
  distributions(shared, geometry.ecdf);
}

function run(shared, panel, index) {
  const { context, picture, limits, view } = shared;
  const series = picture.runs[index];
  axes(shared, panel);
  inside(context, panel, () => {
    if (series.n < SHORT_RUN) points(shared, panel, series);
    else band(shared, panel, series);
  });
  if (series.n >= SHORT_RUN) edges(shared, panel, series);
  frame(context, panel);
  const [above, below] = series.outside[view.axis];
  const counts = [above ? `▲${above}` : "", below ? `▼${below}` : ""].filter(Boolean).join(" ");
  text(context, `Run ${index + 1}`, panel.x, panel.y - 5, { weight: 600 });
  text(context, counts, panel.x + panel.w, panel.y - 5, { align: "right", colour: SOFT, size: 11 });
  return limits;
}

function axes({ context, picture, limits, y, view }, panel) {
  const values = view.log ? logTicks(limits) : ticks(limits[0], limits[1], panel.h / 45);
  const step = view.log ? Math.min(...values) : (values[1] ?? limits[1]) - (values[0] ?? limits[0]);
  const unit = unitFor(picture.median, picture.unit);
  for (const value of values) {
    const at = bottomUp(panel, y(value));
    line(context, [[panel.x, at], [panel.x + panel.w, at]], { colour: GRID });
    if (panel.isFirst) text(context, tickText(value, step, unit), panel.x - 6, at + 4, { align: "right", size: 11 });
  }
  if (panel.isLast && !view.log && picture.median > 0) {
    const share = (value) => value / picture.median - 1;
    for (const tick of ticks(share(limits[0]), share(limits[1]), panel.h / 45)) {
      const at = bottomUp(panel, y((1 + tick) * picture.median));
      text(context, percentText(tick), panel.x + panel.w + 5, at + 4, { colour: SOFT, size: 11 });
    }
  }
}

function logTicks([low, high]) {
  const first = Math.floor(Math.log10(Math.max(low, high * 1e-6)));
  const decades = Array.from({ length: Math.ceil(Math.log10(high)) - first + 1 }, (_, i) => 10 ** (first + i));
  const values = decades.flatMap((d) => (decades.length > 4 ? [d] : [d, 2 * d, 5 * d])).filter((v) => v >= low && v <= high);
  return values.length ? values : [high];
}

function band({ context, picture, y }, panel, series) {
  const n = series.low.length;
  const width = (series.n / picture.n) * panel.w;
  context.fillStyle = BAND;
  for (let i = 0; i < n; i += 1) {
    const top = bottomUp(panel, y(series.high[i]));
    const bottom = bottomUp(panel, y(series.low[i]));
    context.fillRect(panel.x + (i / n) * width, top, Math.max(width / n, 0.7), Math.max(bottom - top, 1));
  }
  pooledMedian(context, picture, y, panel);
  line(context, medianLine(picture, y, panel, series), { colour: INK, width: 1.8 });
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
function edges({ context, picture, limits }, panel, series) {
  const n = series.low.length;
  const width = (series.n / picture.n) * panel.w;
  context.fillStyle = EDGE;
  for (let i = 0; i < n; i += 1) {
    const x = panel.x + ((i + 0.5) / n) * width;
    if (series.high[i] > limits[1]) triangle(context, x, panel.y, 4);
    if (series.low[i] < limits[0]) triangle(context, x, panel.y + panel.h, -4);
  }
}

function triangle(context, x, y, height) {
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x - 2, y + height);
  context.lineTo(x + 2, y + height);
  context.fill();
}

/** The window medians of all runs in one panel: best for the timing of steps. */
function overlay(shared, panel) {
  const { context, picture, y } = shared;
  axes(shared, panel);
  inside(context, panel, () => {
    pooledMedian(context, picture, y, panel);
    picture.runs.forEach((series, i) => {
      line(context, medianLine(picture, y, panel, series), style(i));
    });
  });
  frame(context, panel);
  text(context, "Medians of all runs", panel.x, panel.y - 5, { weight: 600 });
  legend(context, panel, picture.runs.length);
}

function style(i) {
  return { colour: INKS[i % INKS.length], dash: DASHES[Math.floor(i / INKS.length) % DASHES.length], width: 1.5 };
}

function legend(context, panel, n) {
  const step = Math.min(52, (panel.w - 150) / n);
  for (let i = 0; i < n; i += 1) {
    const x = panel.x + panel.w - (n - i) * step;
    line(context, [[x, panel.y - 9], [x + 20, panel.y - 9]], style(i));
    text(context, String(i + 1), x + 24, panel.y - 5, { size: 11 });
  }
}

/** Quantile bars on the same scale: 5 to 95 %, 25 to 75 %, median. */
function spread({ context, picture, y }, panel) {
  heading(context, panel, ["Spread per run: 5–95 %, 25–75 %, median", "Spread per run", "Spread"]);
  const at = (series, percentile) => bottomUp(panel, y(series.quantiles[picture.percentiles.indexOf(percentile)]));
  const step = panel.w / picture.runs.length;
  inside(context, panel, () => {
    pooledMedian(context, picture, y, panel);
    picture.runs.forEach((series, i) => {
      const x = panel.x + (i + 0.5) * step;
      line(context, [[x, at(series, 5)], [x, at(series, 95)]], { colour: SOFT, width: 1.5 });
      context.fillStyle = BOX;
      const top = at(series, 75);
      context.fillRect(x - step * 0.3, top, step * 0.6, Math.max(at(series, 25) - top, 1));
      line(context, [[x - step * 0.36, at(series, 50)], [x + step * 0.36, at(series, 50)]], { colour: INK, width: 2.2 });
    });
  });
  frame(context, panel);
  picture.runs.forEach((_, i) => {
    text(context, String(i + 1), panel.x + (i + 0.5) * step, panel.y + panel.h + 13, { align: "center", size: 11 });
  });
}

/** The empirical distribution functions of all runs. */
function distributions({ context, picture, limits, y, view }, panel) {
  heading(context, panel, ["Share of iterations up to a value", "Distribution"]);
  const x = (value) => panel.x + y(value) * panel.w;
  inside(context, panel, () => {
    picture.runs.forEach((series, i) => {
      const curve = Array.from(series.quantiles, (value, p) => [x(value), bottomUp(panel, picture.percentiles[p] / 100)]);
      line(context, [[panel.x, bottomUp(panel, 0)], ...curve, [panel.x + panel.w, bottomUp(panel, 1)]], style(i));
    });
  });
  frame(context, panel);
  const values = view.log ? logTicks(limits) : ticks(limits[0], limits[1], panel.w / 75);
  const step = view.log ? Math.min(...values) : (values[1] ?? limits[1]) - (values[0] ?? limits[0]);
  const unit = unitFor(picture.median, picture.unit);
  below(context, panel, values.map((value) => [x(value), tickText(value, step, unit)]));
}

/** Labels under a panel, kept inside it; one that would touch the label before it is left out. */
function below(context, panel, labels) {
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
  const style = { weight: 600, size: 11 };
  context.font = font(style);
  const fitting = wordings.find((words) => context.measureText(words).width <= panel.w) ?? wordings.at(-1);
  text(context, fitting, panel.x, panel.y - 5, style);
}

function bottomUp(panel, share) {
  return panel.y + panel.h * (1 - share);
}

function inside(context, { x, y, w, h }, draw) {
  context.save();
  context.beginPath();
  context.rect(x, y, w, h);
  context.clip();
  draw();
  context.restore();
}

function frame(context, { x, y, w, h }) {
  context.strokeStyle = FRAME;
  context.lineWidth = 1;
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

function font({ weight, size }) {
  return `${weight} ${size}px ${FONT}`;
}

function text(context, words, x, y, { align = "left", colour = INK, size = 12, weight = 400 } = {}) {
  context.fillStyle = colour;
  context.font = font({ weight, size });
  context.textAlign = align;
  context.fillText(words, x, y);
}
