// Generated items in the form of labeler/studies/screen/binning.py: from series to plot data.

import { unpack } from "../../labeler/studies/ui/component/js/layout.js";

const PERCENTILES = [0, 1, 2, 3, 4, ...Array.from({ length: 37 }, (_, i) => 5 + 2.5 * i), 96, 97, 98, 99, 100];
const MAX_BINS = 300;
const WINDOW = 50;
const MAX_WINDOWS = 60;
export const AXES = ["core", "close", "pooled", "full"]; // of made-up items, whose study begins with the first

/** Numbers in [0, 1), always the same for the same seed: a linear congruential generator. */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** n measurements around a level, with noise as a share of it. */
export function noisy(n, level, { seed = 1, share = 0.02 } = {}) {
  const random = seeded(seed);
  return Array.from({ length: n }, () => level * (1 + share * (random() - 0.5)));
}

/** The plot data of these series before unpacking, with floats in base64. */
export function sent(series, { unit = "s", minSpan = 0.1 } = {}) {
  const ordered = series.map(inOrder);
  const pooled = inOrder(series.flat());
  const axes = axesOf(ordered, pooled, minSpan);
  return {
    unit,
    rule: "core",
    n: Math.max(...series.map((values) => values.length)),
    median: quantile(pooled, 50),
    percentiles: PERCENTILES,
    axes,
    runs: series.map((values, i) => drawn(values, ordered[i], axes)),
  };
}

/** The drawing of these series. */
export function picture(series, options) {
  return unpack(sent(series, options));
}

/** Runs of n iterations around one level, each with individual noise. */
export function alike(nRuns, n = 200, level = 0.01) {
  return picture(Array.from({ length: nRuns }, (_, i) => noisy(n, level, { seed: i + 1 })));
}

export function packed(values) {
  return Buffer.from(Float32Array.from(values).buffer).toString("base64");
}

function packedShares(shares) {
  const step = (share) => Math.max(Math.round(255 * share), Number(share > 0));
  return Buffer.from(Uint8Array.from(shares, step).buffer).toString("base64");
}

function inOrder(values) {
  return [...values].sort((a, b) => a - b);
}

function quantile(ordered, percent) {
  const at = (percent / 100) * (ordered.length - 1);
  const below = Math.floor(at);
  const above = Math.min(below + 1, ordered.length - 1);
  return ordered[below] * (1 - at + below) + ordered[above] * (at - below);
}

function axesOf(ordered, pooled, minSpan) {
  const low = Math.min(...ordered.map((values) => quantile(values, 1)));
  const high = Math.max(...ordered.map((values) => quantile(values, 95)));
  const quartiles = (percent) => ordered.map((values) => quantile(values, percent));
  return {
    core: atLeast(low, high, Math.abs(quantile(pooled, 50)) * minSpan),
    close: atLeast(Math.min(...quartiles(25)), Math.max(...quartiles(75)), 0.1 * Math.abs(quantile(pooled, 50))),
    pooled: atLeast(quantile(pooled, 0.5), quantile(pooled, 99.5), 0),
    full: atLeast(pooled[0], pooled.at(-1), 0),
  };
}

function atLeast(low, high, span) {
  const middle = (low + high) / 2;
  const limits = high - low < span ? [middle - span / 2, middle + span / 2] : [low, high];
  const pad = Math.abs(low) * 0.05 || 0.5;
  return limits[1] > limits[0] ? limits : [low - pad, low + pad];
}

function drawn(values, ordered, axes) {
  const n = values.length;
  const bins = Math.min(MAX_BINS, n);
  const parts = cut(values, (i) => Math.floor((i * n) / bins), bins);
  const nWindows = n < WINDOW ? n : Math.min(Math.floor(n / WINDOW), MAX_WINDOWS);
  const windows = cut(values, (i) => Math.floor((i * n) / nWindows), nWindows);
  const inWindows = (percent) => packed(windows.map((part) => quantile(inOrder(part), percent)));
  const shares = (isBeyond) => windows.map((part) => part.filter(isBeyond).length / part.length);
  const beyond = Object.entries(axes).map(([view, [low, high]]) => [
    view,
    packedShares([...shares((value) => value > high), ...shares((value) => value < low)]),
  ]);
  return {
    n,
    low: packed(parts.map((part) => Math.min(...part))),
    high: packed(parts.map((part) => Math.max(...part))),
    medians: inWindows(50),
    lower: inWindows(25),
    upper: inWindows(75),
    quantiles: packed(PERCENTILES.map((percent) => quantile(ordered, percent))),
    beyond: n < WINDOW ? {} : Object.fromEntries(beyond),
  };
}

/** n pieces, piece i from start(i) up to start(i + 1). */
function cut(values, start, n) {
  return Array.from({ length: n }, (_, i) => values.slice(start(i), i + 1 < n ? start(i + 1) : undefined));
}
