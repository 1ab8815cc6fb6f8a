// The panels beside or below the runs: the spread and the cumulative distribution of each run.

import {
  BAND, FADED, GRID, INK, LABEL_STEP, SOFT, axisLabels, bottomUp, frame, grid, inTurn, inside, labelStyle, line,
  percentLabels, plotOf, pooledMedian, style, text, widthOf,
} from "./ink.js";
import { cut, laneOf } from "./layout.js";

const LABEL_WIDTH = 14;

/** Quantile bars on the scale of the runs: 5 to 95 %, 25 to 75 %, median; a triangle if a bar exceeds the axis. */
export function spread(shared, panel) {
  const { context, picture, y, view } = shared;
  heading(context, panel, ["Spread per run: 5–95 %, 25–75 %, median", "Spread per run", "Spread"]);
  sideAxis(shared, panel);
  const place = (series, percentile) => y(series.quantiles[picture.percentiles.indexOf(percentile)]);
  const step = panel.w / picture.runs.length;
  inside(context, plotOf(panel), () => {
    pooledMedian(shared, panel);
    picture.runs.forEach((series, i) => {
      const to = (percentile) => bottomUp(panel, place(series, percentile));
      const x = panel.x + (i + 0.5) * step;
      line(context, cut([[x, to(5)], [x, to(95)]], panel), { colour: SOFT, width: 1.5 });
      context.fillStyle = view.run === null || view.run === i ? BAND : FADED;
      context.fillRect(x - step * 0.3, to(75), step * 0.6, Math.max(to(25) - to(75), 1));
      line(context, [[x - step * 0.36, to(50)], [x + step * 0.36, to(50)]], { colour: INK, width: 2.2 });
    });
  });
  const middle = laneOf(panel) / 2;
  picture.runs.forEach((series, i) => {
    const x = panel.x + (i + 0.5) * step;
    if (place(series, 95) > 1) triangle(context, x, panel.y + middle, -3);
    if (place(series, 5) < 0) triangle(context, x, panel.y + panel.h - middle, 3);
  });
  frame(context, panel);
  const every = Math.ceil((widthOf(context, String(picture.runs.length), { size: 10 }) + 1) / step);
  picture.runs.forEach((_, i) => {
    if (i % every) return;
    const weight = view.run === i ? 700 : 400;
    const at = panel.x + (i + 0.5) * step;
    text(context, String(i + 1), at, panel.y + panel.h + 13, { align: "center", size: 10, weight });
  });
}

function triangle(context, x, y, half) {
  context.fillStyle = SOFT;
  context.beginPath();
  context.moveTo(x, y + half);
  context.lineTo(x - 4, y - half);
  context.lineTo(x + 4, y - half);
  context.fill();
}

/** Lanes and lines as in the panels of the runs; labels only if the panels with labels are not beside it. */
function sideAxis(shared, panel) {
  const at = grid(shared, panel);
  if (panel.isOwn) percentLabels(shared, panel, at, panel.x - 5, "right");
}

/** Cumulative distributions: shares across, values up, on the scale of the runs. */
export function distributions(shared, panel) {
  const { context, picture, y, view } = shared;
  const long = "Share of iterations (x axis) up to a value (y axis)";
  heading(context, panel, [long, "Share up to a value", "Distribution"]);
  sideAxis(shared, panel);
  const x = (share) => panel.x + share * panel.w;
  const quarters = [0, 0.25, 0.5, 0.75, 1];
  quarters.slice(1, -1).forEach((share) => {
    line(context, [[x(share), panel.y], [x(share), panel.y + panel.h]], { colour: GRID });
  });
  const curveOf = (series) =>
    Array.from(series.quantiles, (value, p) => [x(picture.percentiles[p] / 100), bottomUp(panel, y(value))]);
  inside(context, plotOf(panel), () => {
    pooledMedian(shared, panel);
    inTurn(picture.runs, view.run, (series, i) => line(context, cut(curveOf(series), panel), style(i, view.run)));
  });
  frame(context, panel);
  curveLabels(shared, panel, picture.runs.map(curveOf));
  axisLabels(context, panel, quarters.map((share) => [x(share), `${100 * share} %`]));
}

/** The number of each run at the end of its curve; numbers that would cover each other are moved apart. */
function curveLabels({ context, view }, panel, curves) {
  const plot = plotOf(panel);
  const ends = curves
    .map((curve, i) => {
      const [x, y] = curve.findLast(([, at]) => at >= plot.y && at <= plot.y + plot.h) ?? curve[0];
      return { i, x: Math.min(x, plot.x + plot.w - 8), y: Math.min(Math.max(y, plot.y + 10), plot.y + plot.h - 2) };
    })
    .sort((a, b) => a.y - b.y || b.x - a.x);
  const placed = [];
  ends.forEach(({ i, x, y }) => {
    const place = freePlace(x, y, plot, placed);
    placed.push(place);
    text(context, String(i + 1), ...place, { ...labelStyle(i, view.run), align: "center", halo: true });
  });
}

/** The position nearest to a point at which a number touches no other number. */
function freePlace(x, y, plot, placed) {
  const rows = [0, 1, -1, 2, -2, 3, -3, 4, -4, 5, 6].map((k) => y + k * LABEL_STEP);
  const columns = Array.from({ length: 10 }, (_, k) => x - k * LABEL_WIDTH);
  const places = columns.flatMap((left) => rows.map((at) => [left, at]));
  const isInside = ([left, at]) => left >= plot.x + 8 && at >= plot.y + 8 && at <= plot.y + plot.h;
  const isApart = ([left, at], other) =>
    Math.abs(other[0] - left) >= LABEL_WIDTH || Math.abs(other[1] - at) >= LABEL_STEP;
  return places.find((place) => isInside(place) && placed.every((other) => isApart(place, other))) ?? [x, y];
}

/** Draw the longest wording that fits above the panel. */
function heading(context, panel, wordings) {
  const bold = { weight: 600, size: 11 };
  const fitting = wordings.find((words) => widthOf(context, words, bold) <= panel.w) ?? wordings.at(-1);
  text(context, fitting, panel.x, panel.y - 5, bold);
}
