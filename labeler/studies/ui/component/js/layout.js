// Geometry, scales and numbers of the picture; no drawing here.

export const SHORT_RUN = 50; // runs with fewer iterations are drawn as points
export const LANE = 12; // largest height of the lanes at the top and bottom of a panel
const GAP = 14;
const TITLE = 18;
const UNDER = 18; // space for labels under a row
const MIN_PANEL = 88;
const MIN_HEIGHT = 60;
const STRIP = 0.24; // share of the width for the spread and distribution panels
export const STRIP_HEIGHT = 190;
export const WIDE = 860; // in narrower pictures the strip is below the runs
const SMALL = 560; // narrower pictures have less space for labels

/** Decode the numbers of a picture, which the server sends as base64 of float32. */
export function unpack(picture) {
  const series = (text) => decode(text, picture.scale);
  return {
    ...picture,
    runs: picture.runs.map((run) => {
      const medians = series(run.medians);
      const shares = ([view, text]) => [view, sharesOf(text, medians.length)];
      return {
        ...run,
        medians,
        low: series(run.low),
        high: series(run.high),
        lower: series(run.lower),
        upper: series(run.upper),
        beyond: Object.fromEntries(Object.entries(run.beyond).map(shares)),
        quantiles: series(run.quantiles),
      };
    }),
  };
}

/** Decode numbers that the server sends as base64 of float32, optionally scaled. */
export function decode(text, own) {
  return rescaled(floats(text), own);
}

function bytesOf(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

function floats(text) {
  return new Float32Array(bytesOf(text).buffer);
}

/** The share of each window above the axis, and the share below: [above, below]; each share has one or two bytes. */
function sharesOf(text, nWindows) {
  const bytes = bytesOf(text);
  const isWide = bytes.length > 2 * nWindows;
  const share = (_, i) => (isWide ? (bytes[2 * i] + 256 * bytes[2 * i + 1]) / 65535 : bytes[i] / 255);
  const shares = Array.from({ length: 2 * nWindows }, share);
  return [shares.slice(0, shares.length / 2), shares.slice(shares.length / 2)];
}

/** Convert scaled numbers to the item's unit; zeros are restored exactly. */
function rescaled(values, own) {
  if (!own) return values;
  const [offset, factor] = own;
  const value = (number) => offset + factor * number;
  return Float64Array.from(values, (number) => (Math.abs(value(number)) < 1e-6 * factor ? 0 : value(number)));
}

/**
 * The layout: `panels`, one per run (one for all runs in the overlay), with `bars` and `ecdf` beside or below them.
 * Beside two rows of runs they are in these rows and share the scale; otherwise they have separate labels (`isOwn`).
 */
export function arrange(width, height, nRuns, overlay) {
  const wide = width >= WIDE;
  const [left, right] = width >= SMALL ? [62, 46] : [50, 44]; // space for the two axes
  const runsWidth = wide ? Math.round(width * (1 - STRIP)) : width;
  const room = runsWidth - left - right;
  const fitting = Math.max(1, Math.min(Math.ceil(nRuns / 2), Math.floor((room + GAP) / (MIN_PANEL + GAP))));
  const rows = overlay ? 1 : Math.ceil(nRuns / fitting);
  const columns = overlay ? 1 : Math.ceil(nRuns / rows); // so that the rows have similar lengths
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

/** The height of the lanes of a panel, which show the values beyond the axis. */
export function laneOf({ h }) {
  return Math.min(LANE, Math.round(h / 10));
}

/** The run whose panel or bar is at a point of the canvas, or null. */
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

/** A scale: value -> share of the height from the bottom. A logarithmic scale needs a value above 0. */
export function scale([low, high], isLog) {
  if (!isLog || high <= 0) return (value) => (value - low) / (high - low || 1);
  const floor = Math.log(Math.max(low, high * 1e-6));
  const span = Math.log(high) - floor || 1;
  return (value) => (value <= 0 ? -1 : (Math.log(value) - floor) / span);
}

/**
 * Clip a path so that it looks the same in this box and ends near it: a browser also computes the dashes of a line that
 * ends a million pixels away.
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

/** The point where the line to a distant point leaves the area near the box, exact for any distance. */
function exit(other, far, near) {
  const within = (value, k) => Math.min(Math.max(value, near[k][0]), near[k][1]);
  const edge = far.map(within);
  const shares = far.map((value, k) => (value === edge[k] ? 1 : (edge[k] - other[k]) / (value - other[k])));
  const share = Math.max(Math.min(...shares), 0);
  return far.map((value, k) => (shares[k] <= share ? edge[k] : within(other[k] + share * (value - other[k]), k)));
}

/** About `wanted` round values between low and high. */
export function ticks(low, high, wanted) {
  const rough = (high - low) / Math.max(wanted, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? 10 * power;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, i) => (first + i) * step);
}

/** The values to mark on an axis and their step: round values, or powers of ten if there are enough of them. */
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
 * The share of each window of a run above an axis, and the share below: [above, below]. On a logarithmic axis, values
 * that are not above 0 count as below.
 */
export function beyond(picture, series, axis, isLog) {
  const none = Array(series.medians.length).fill(0);
  const isShort = series.n < SHORT_RUN;
  const [above, below] = isShort ? eachBeyond(series, picture.axes[axis]) : (series.beyond[axis] ?? [none, none]);
  return [above, isLog ? withNoughts(series, below) : below];
}

/** The shares of a short run, in which each iteration is a window, computed from the values. */
function eachBeyond({ medians }, [lowest, highest]) {
  const slack = 1e-6 * (highest - lowest); // larger than the rounding error of float32
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

/** The index of the window that contains a bin. */
export function windowOf(bin, nBins, nWindows) {
  return Math.floor(((bin + 0.5) * nWindows) / nBins);
}

/** The shares of a whole run above and below an axis. */
export function outside(picture, series, axis, isLog) {
  const mean = (shares) => shares.reduce((sum, share) => sum + share, 0) / shares.length;
  return beyond(picture, series, axis, isLog).map(mean);
}

/** A share as text, rounded to whole per cent. */
export function shareText(share) {
  return share < 0.01 ? "<1 %" : `${Math.round(100 * share)} %`;
}

/**
 * The axes that Z switches between: the main axis, close (if the runs have several separate levels, one axis for each
 * level from the lowest up), and then the wide axes.
 */
export function viewsOf({ axes, rule }) {
  const others = ["close", "close-2", "close-3", "pooled", "full"];
  return [rule, ...others.filter((view) => view !== rule && view in axes)];
}

/**
 * The shares of the median at which to draw lines, and their step. On a logarithmic axis: the shares at the marked
 * values.
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

/** The unit that suits values of this size: [factor, name]. */
export function unitFor(value, unit) {
  if (unit !== "s") return [1, unit];
  return TIMES.find(([factor]) => Math.abs(value) >= factor) ?? TIMES[TIMES.length - 1];
}

/** A tick value as text, with as many decimals as the step needs. */
export function tickText(value, step, [factor, name]) {
  const decimals = Math.min(Math.max(-Math.floor(Math.log10(step / factor) + 1e-9), 0), 6);
  return `${(value / factor).toFixed(decimals)} ${name}`.trim();
}

/** A share with its sign, with as many decimals as the step needs. */
export function percentText(share, step) {
  const decimals = Math.min(Math.max(-Math.floor(Math.log10(100 * step) + 1e-9), 0), 6);
  const text = Math.abs(100 * share).toFixed(decimals);
  if (Number(text) === 0) return "0%";
  return `${share > 0 ? "+" : "−"}${text}%`;
}

/** The alternative text of the picture, as neutral as the picture. */
export function summary(picture) {
  const unit = unitFor(picture.median, picture.unit);
  const at = (run, percentile) => run.quantiles[picture.percentiles.indexOf(percentile)];
  // in varied pictures, long runs are up to 0.3 % shorter or longer
  const length = ({ n, low }) => (picture.scale && n > low.length ? `about ${Number(n.toPrecision(2))}` : n);
  const write = (value) => `${Number((value / unit[0]).toPrecision(4))} ${unit[1]}`.trim(); // no exponent
  const range = (values) => `${write(Math.min(...values))} to ${write(Math.max(...values))}`;
  const course = ({ n, medians }) => {
    if (Math.round(n / medians.length) <= 1) return ""; // points instead of a line
    const [begin, end] = [medians[0], medians[medians.length - 1]].map(write);
    return `; the line begins at ${begin}, ends at ${end}, and lies within ${range(medians)}`;
  };
  const lines = picture.runs.map(
    (run, i) =>
      `Run ${i + 1}: ${length(run)} iterations, median ${write(at(run, 50))}, middle half ${write(at(run, 25))} to ` +
      `${write(at(run, 75))}, 5th to 95th percentile ${write(at(run, 5))} to ${write(at(run, 95))}, ` +
      `all ${range([...run.low, ...run.high])}${course(run)}.`,
  );
  return `${picture.runs.length} runs on one scale. ${lines.join(" ")}`;
}
