// Geometry, scales and numbers of the picture; no drawing here.

export const SHORT_RUN = 50; // runs with fewer iterations are drawn as points
export const LANE = 12; // height of the lanes at top and bottom of a panel of some height
const GAP = 14;
const TITLE = 18;
const UNDER = 18; // room for labels under a row
const MIN_PANEL = 96;
const MIN_HEIGHT = 84;
const STRIP = 0.24; // share of the width for spread and distribution
const STRIP_HEIGHT = 190;
const WIDE = 860; // below this the strip goes under the runs
const SMALL = 560; // below this the room for labels is small

/** The picture's numbers, unpacked: what the server sent as base64 of float32. */
export function unpack(picture) {
  const series = (text) => rescaled(floats(text), picture.scale);
  return {
    ...picture,
    runs: picture.runs.map((run) => ({
      ...run,
      low: series(run.low),
      high: series(run.high),
      medians: series(run.medians),
      lower: series(run.lower),
      upper: series(run.upper),
      beyond: Object.fromEntries(Object.entries(run.beyond).map(([view, text]) => [view, sharesOf(text)])),
      quantiles: series(run.quantiles),
    })),
  };
}

function bytesOf(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

function floats(text) {
  return new Float32Array(bytesOf(text).buffer);
}

/** Which share of each window lies above the axis, and which below: [above, below]. */
function sharesOf(text) {
  const shares = Array.from(bytesOf(text), (step) => step / 255);
  return [shares.slice(0, shares.length / 2), shares.slice(shares.length / 2)];
}

/** The numbers in the item's unit, where the server sent them in a scale of their own; zeros are exact again. */
function rescaled(values, own) {
  if (!own) return values;
  const [offset, factor] = own;
  const value = (number) => offset + factor * number;
  return Float64Array.from(values, (number) => (Math.abs(value(number)) < 1e-6 * factor ? 0 : value(number)));
}

/**
 * Where everything goes: `panels` one a run (one for all when overlaid), `bars` and `ecdf` beside or below them. Beside
 * two rows of runs they stand in these rows, on the same scale; elsewhere they have labels of their own (`isOwn`).
 */
export function arrange(width, height, nRuns, overlay) {
  const wide = width >= WIDE;
  const [left, right] = width >= SMALL ? [62, 46] : [50, 44]; // room for the axis, and for the axis in per cent
  const runsWidth = wide ? Math.round(width * (1 - STRIP)) : width;
  const room = runsWidth - left - right;
  const fitting = Math.max(1, Math.min(Math.ceil(nRuns / 2), Math.floor((room + GAP) / (MIN_PANEL + GAP))));
  const rows = overlay ? 1 : Math.ceil(nRuns / fitting);
  const columns = overlay ? 1 : Math.ceil(nRuns / rows); // no row much shorter than the others
  const runsHeight = Math.max(height, rows * (TITLE + MIN_HEIGHT + UNDER));
  const panelWidth = (room - GAP * (columns - 1)) / columns;
  const panelHeight = runsHeight / rows - TITLE - UNDER;
  const n = overlay ? 1 : nRuns;
  const panels = Array.from({ length: n }, (_, i) => ({
    x: left + (i % columns) * (panelWidth + GAP),
    y: TITLE + Math.floor(i / columns) * (panelHeight + TITLE + UNDER),
    w: panelWidth,
    h: panelHeight,
    isFirst: i % columns === 0,
    isLast: i % columns === columns - 1 || i === n - 1,
    isBottom: i + columns >= n,
  }));
  const isBeside = wide && rows === 2;
  const stripX = wide ? runsWidth + (isBeside ? 8 : left - 16) : left;
  const strip = wide
    ? { x: stripX, y: TITLE, w: width - stripX - 10, h: runsHeight - TITLE - UNDER }
    : { x: stripX, y: runsHeight + TITLE, w: width - left - 10, h: STRIP_HEIGHT - TITLE - UNDER };
  const [bars, ecdf] = wide ? stacked(strip, !isBeside) : sideBySide(strip, left);
  return { panels, bars, ecdf, nRuns, width, height: runsHeight + (wide ? 0 : STRIP_HEIGHT) };
}

/** The height of the lanes of a panel, where what lies beyond its axis is shown. */
export function laneOf({ h }) {
  return Math.min(LANE, Math.round(h / 10));
}

/** The run whose panel or bar lies at a point of the canvas; null if there is none. */
export function runAt({ panels, bars, nRuns }, x, y) {
  const holds = (box) => x >= box.x && x <= box.x + box.w && y >= box.y && y <= box.y + box.h;
  if (holds(bars)) return Math.min(Math.floor(((x - bars.x) / bars.w) * nRuns), nRuns - 1);
  const panel = panels.length === nRuns ? panels.findIndex(holds) : -1;
  return panel < 0 ? null : panel;
}

function stacked({ x, y, w, h }, isOwn) {
  const half = (h - TITLE - UNDER) / 2;
  return [
    { x, y, w, h: half, isOwn },
    { x, y: y + half + TITLE + UNDER, w, h: half, isOwn },
  ];
}

function sideBySide({ x, y, w, h }, left) {
  const half = (w - left + 8) / 2;
  return [
    { x, y, w: half, h, isOwn: true },
    { x: x + half + left - 8, y, w: half, h, isOwn: true },
  ];
}

/** A scale: value -> share of the height from the bottom. Without a value above 0 there is no logarithmic one. */
export function scale([low, high], isLog) {
  if (!isLog || high <= 0) return (value) => (value - low) / (high - low || 1);
  const floor = Math.log(Math.max(low, high * 1e-6));
  const span = Math.log(high) - floor || 1;
  return (value) => (value <= 0 ? -1 : (Math.log(value) - floor) / span);
}

/**
 * A path that looks the same in this box, and ends not far outside it: a browser counts the dashes of a line to a value
 * a million pixels away, too.
 */
export function cut(path, { x, y, w, h }) {
  const near = [[x - w, x + 2 * w], [y - h, y + 2 * h]];
  const isNear = (point) => near.every(([low, high], k) => low <= point[k] && point[k] <= high);
  if (path.every(isNear)) return path;
  return path.flatMap((point, i) => {
    if (isNear(point)) return [point];
    return [path[i - 1], path[i + 1]].filter(Boolean).map((other) => exit(other, point, near));
  });
}

/** Where the line from another point to a far one ceases to be near, as exact as the edge however far that is. */
function exit(other, far, near) {
  const within = (value, k) => Math.min(Math.max(value, near[k][0]), near[k][1]);
  const edge = far.map(within);
  const shares = far.map((value, k) => (value === edge[k] ? 1 : (edge[k] - other[k]) / (value - other[k])));
  const share = Math.max(Math.min(...shares), 0);
  return far.map((value, k) => (shares[k] <= share ? edge[k] : within(other[k] + share * (value - other[k]), k)));
}

/** Round values between low and high, about `wanted` of them. */
export function ticks(low, high, wanted) {
  const rough = (high - low) / Math.max(wanted, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? 10 * power;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, i) => (first + i) * step);
}

/** Values to mark on an axis, and the step between them: round ones, or powers of ten where these are enough. */
export function axisTicks([low, high], isLog, wanted) {
  const bottom = isLog && high > 0 ? Math.max(low, high * 1e-6) : low;
  const values = isLog && bottom > 0 && high / bottom > 10 ? decades(bottom, high) : ticks(bottom, high, wanted);
  if (values.length < 2) return [[...values, high], high - bottom];
  return [values, values[1] - values[0]];
}

function decades(low, high) {
  const first = Math.floor(Math.log10(low));
  const powers = Array.from({ length: Math.ceil(Math.log10(high)) - first + 1 }, (_, i) => 10 ** (first + i));
  const inside = (values) => values.filter((value) => value >= low && value <= high);
  return inside(powers.length > 4 ? powers : powers.flatMap((power) => [power, 2 * power, 5 * power]));
}

const TIMES = [
  [1, "s"],
  [1e-3, "ms"],
  [1e-6, "µs"],
  [1e-9, "ns"],
];

/**
 * Which share of each window of a run lies above an axis, and which below: [above, below]. On a logarithmic axis what
 * is not above 0 lies below.
 */
export function beyond(picture, series, axis, isLog) {
  const none = Array(series.medians.length).fill(0);
  const isShort = series.n < SHORT_RUN;
  const [above, below] = isShort ? eachBeyond(series, picture.axes[axis]) : (series.beyond[axis] ?? [none, none]);
  return [above, isLog ? withNoughts(series, below) : below];
}

/** Of a short run, where each iteration is a window, the values themselves tell. */
function eachBeyond({ medians }, [lowest, highest]) {
  const slack = 1e-6 * (highest - lowest); // more than float32 can be wrong by
  const values = Array.from(medians);
  const isBeyond = (test) => values.map((value) => Number(test(value)));
  return [isBeyond((value) => value > highest + slack), isBeyond((value) => value < lowest - slack)];
}

function withNoughts({ low, medians }, below) {
  const perWindow = low.length / medians.length;
  const noughts = Array(medians.length).fill(0);
  low.forEach((value, i) => {
    if (value <= 0) noughts[windowOf(i, low.length, medians.length)] += 1 / perWindow;
  });
  return below.map((share, i) => Math.max(share, Math.min(noughts[i], 1)));
}

/** The window that a bin belongs to. */
export function windowOf(bin, nBins, nWindows) {
  return Math.floor(((bin + 0.5) * nWindows) / nBins);
}

/** How much of a whole run lies beyond an axis, above and below. */
export function outside(picture, series, axis, isLog) {
  const mean = (shares) => shares.reduce((sum, share) => sum + share, 0) / shares.length;
  return beyond(picture, series, axis, isLog).map(mean);
}

/** A share of a whole in words: no more digits than anybody needs. */
export function shareText(share) {
  return share < 0.01 ? "<1 %" : `${Math.round(100 * share)} %`;
}

/** The axes that a reviewer goes through, the study's own first. */
export function viewsOf({ axes, rule }) {
  return [rule, ...["close", "pooled", "full"].filter((view) => view !== rule && view in axes)];
}

/**
 * Shares of the median to draw lines at, and the step between them. On a logarithmic axis: the shares of the values
 * that it marks.
 */
export function percentTicks(limits, median, isLog, wanted) {
  if (!(median > 0)) return [[], 1];
  const share = (value) => value / median - 1;
  if (isLog && limits[1] > 0) {
    const [values, step] = axisTicks(limits, true, wanted);
    return [values.map(share), Math.min(step / median, 1)];
  }
  const shares = ticks(share(limits[0]), share(limits[1]), wanted);
  return [shares, shares[1] - shares[0] || 0.01];
}

/** The unit in which values of this size read best: [factor, name]. */
export function unitFor(value, unit) {
  if (unit !== "s") return [1, unit];
  return TIMES.find(([factor]) => Math.abs(value) >= factor) ?? TIMES[TIMES.length - 1];
}

/** A tick as text, with just the decimals that its step needs. */
export function tickText(value, step, [factor, name]) {
  const decimals = Math.min(Math.max(-Math.floor(Math.log10(step / factor) + 1e-9), 0), 6);
  return `${(value / factor).toFixed(decimals)} ${name}`.trim();
}

/** A share with its sign, with just the decimals that its step needs. */
export function percentText(share, step) {
  const decimals = Math.min(Math.max(-Math.floor(Math.log10(100 * step) + 1e-9), 0), 6);
  const text = Math.abs(100 * share).toFixed(decimals);
  if (Number(text) === 0) return "0%";
  return `${share > 0 ? "+" : "−"}${text}%`;
}

/** The picture in words, as neutral as the picture itself. */
export function summary(picture) {
  const unit = unitFor(picture.median, picture.unit);
  const at = (run, percentile) => run.quantiles[picture.percentiles.indexOf(percentile)];
  // with a scale of their own, pictures have long runs shortened or lengthened by up to 0.3 %
  const length = ({ n, low }) => (picture.scale && n > low.length ? `about ${Number(n.toPrecision(2))}` : n);
  const write = (value) => `${Number((value / unit[0]).toPrecision(4))} ${unit[1]}`.trim(); // no exponent
  const lines = picture.runs.map(
    (run, i) =>
      `Run ${i + 1}: ${length(run)} iterations, median ${write(at(run, 50))}, middle half ${write(at(run, 25))} to ` +
      `${write(at(run, 75))}, 5 to 95 percent ${write(at(run, 5))} to ${write(at(run, 95))}.`,
  );
  return `${picture.runs.length} runs on one scale. ${lines.join(" ")}`;
}
