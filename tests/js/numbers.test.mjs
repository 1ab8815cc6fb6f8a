import assert from "node:assert/strict";
import { test } from "node:test";

import {
  axisTicks, outside, percentText, scale, shareText, summary, tickText, ticks, unitFor, unpack, viewsOf,
} from "../../labeler/studies/ui/component/js/layout.js";
import { alike, noisy, packed, picture, seeded, sent } from "./pictures.mjs";

const MS = [1e-3, "ms"];

function near(actual, expected, tolerance = 1e-9) {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual} is not ${expected}`);
}

test("a linear scale puts the limits at 0 and 1 and continues outside them", () => {
  const y = scale([2, 6], false);
  assert.deepEqual([2, 3, 6, 8, 0].map(y), [0, 0.25, 1, 1.5, -0.5]);
});

test("a linear scale takes negative limits", () => {
  assert.deepEqual([-4, -3, 0].map(scale([-4, 0], false)), [0, 0.25, 1]);
});

test("a logarithmic scale puts equal ratios at equal distances", () => {
  const y = scale([1, 100], true);
  near(y(1), 0);
  near(y(10), 0.5);
  near(y(100), 1);
  near(y(1000), 1.5);
});

test("a logarithmic scale puts zero and negative values below the panel", () => {
  for (const limits of [[1, 100], [0, 100], [-50, 100]]) {
    assert.deepEqual([0, -1, -1e300].map(scale(limits, true)), [-1, -1, -1]);
  }
});

test("a logarithmic scale from zero begins six decades below its upper limit", () => {
  const y = scale([0, 1], true);
  near(y(1e-6), 0);
  near(y(1e-3), 0.5);
  near(y(1), 1);
});

test("a logarithmic scale without a range is finite", () => {
  const y = scale([5, 5], true);
  assert.ok([0, 1, 5, 10].every((value) => Number.isFinite(y(value))));
});

test("a linear scale without a range is finite", () => {
  const y = scale([5, 5], false);
  assert.ok([4, 5, 6].every((value) => Number.isFinite(y(value))));
});

test("a logarithmic scale of limits that are not positive is finite", () => {
  for (const limits of [[-2, -1], [-1, 0]]) {
    const y = scale(limits, true);
    assert.ok([-3, 0, 3].every((value) => Number.isFinite(y(value))), String(limits));
  }
});

test("scales never fall when the value rises", () => {
  const random = seeded(5);
  for (let i = 0; i < 200; i += 1) {
    const low = random() * 10;
    const limits = [low, low + 0.001 + random() * 100];
    const values = Array.from({ length: 20 }, () => random() * 120).sort((a, b) => a - b);
    for (const isLog of [false, true]) {
      const shares = values.map(scale(limits, isLog));
      assert.ok(shares.every((share, k) => k === 0 || share >= shares[k - 1]), `${limits} ${isLog}`);
    }
  }
});

test("ticks of a range worked by hand", () => {
  assert.deepEqual(ticks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(ticks(3, 47, 4), [20, 40]);
  assert.deepEqual(ticks(-5, 5, 2), [-5, 0, 5]);
  assert.deepEqual(ticks(0.5, 0.9, 1), [0.5]);
});

test("there are no ticks without a range", () => {
  for (const value of [0, 5, -3]) assert.deepEqual(ticks(value, value, 5), []);
});

test("ticks lie inside the limits, evenly spaced by 1, 2 or 5 times a power of ten", () => {
  const random = seeded(9);
  for (let i = 0; i < 2000; i += 1) {
    const size = 10 ** (random() * 60 - 30);
    const low = (random() - 0.5) * size * 4;
    const high = low + size * (0.01 + random());
    const wanted = 1 + Math.floor(random() * 12);
    const found = ticks(low, high, wanted);
    const slack = (high - low) * 1e-6;
    assert.ok(found.length <= wanted + 1, `${found.length} ticks of ${wanted}`);
    assert.ok(found.every((value) => value >= low - slack && value <= high + slack), `${low} ${high}: ${found}`);
    const steps = found.slice(1).map((value, k) => value - found[k]);
    steps.forEach((step) => near(step, steps[0], slack));
    if (steps.length) {
      const mantissa = Number((steps[0] / 10 ** Math.floor(Math.log10(steps[0]) + 1e-6)).toFixed(6));
      assert.ok([1, 2, 5].includes(mantissa), `${steps[0]}`);
    }
  }
});

test("ticks of tiny and of huge ranges are finite", () => {
  for (const [low, high] of [[0, 1e-300], [1e-12, 1.1e-12], [0, 1e300], [-1e300, 1e300], [1e9, 1e9 + 1]]) {
    const found = ticks(low, high, 5);
    assert.ok(found.length >= 2 && found.length <= 7, `${low} ${high}: ${found}`);
    assert.ok(found.every(Number.isFinite), `${low} ${high}: ${found}`);
  }
});

test("a logarithmic axis has ticks at 1, 2 and 5 times powers of ten, and over many decades only at the powers", () => {
  near(axisTicks([1, 100], true, 4)[0].reduce((sum, value) => sum + value), 1 + 2 + 5 + 10 + 20 + 50 + 100);
  assert.deepEqual(axisTicks([1, 1e6], true, 4)[0], [1, 10, 100, 1000, 1e4, 1e5, 1e6]);
  assert.equal(axisTicks([0, 1], true, 4)[0].length, 7);
});

test("a logarithmic axis within a decade has ticks like a linear axis", () => {
  assert.deepEqual(axisTicks([2, 12], true, 5), axisTicks([2, 12], false, 5));
});

test("an axis has at least two ticks, all inside it, and a step above zero", () => {
  const random = seeded(3);
  for (let i = 0; i < 1000; i += 1) {
    const low = 10 ** (random() * 20 - 10);
    const high = low * (1 + 10 ** (random() * 10 - 4));
    for (const isLog of [false, true]) {
      const [values, step] = axisTicks([low, high], isLog, 3 + random() * 15);
      const slack = (high - low) * 1e-6;
      assert.ok(values.length >= 2 && step > 0, `${low} ${high} ${isLog}: ${values}`);
      assert.ok(values.every((value) => value >= low - slack && value <= high + slack), `${low} ${high}: ${values}`);
    }
  }
});

test("the ticks of an axis differ", () => {
  for (const limits of [[0.3, 1], [9.5, 10], [1, 1.5], [4, 10]]) {
    const [values] = axisTicks(limits, false, 3);
    assert.equal(new Set(values).size, values.length, `${limits}: ${values}`);
  }
});

test("times use the largest unit that keeps them at one or more", () => {
  const names = [90, 1, 0.5, 1e-3, 2e-5, 1e-6, 5e-9, 1e-12, 0, -0.5].map((value) => unitFor(value, "s")[1]);
  assert.deepEqual(names, ["s", "s", "ms", "ms", "µs", "µs", "ns", "ns", "ns", "ms"]);
  assert.deepEqual(unitFor(2e-5, "s"), [1e-6, "µs"]);
});

test("units other than seconds stay as they are", () => {
  assert.deepEqual(unitFor(2e-5, "MB"), [1, "MB"]);
  assert.deepEqual(unitFor(2e9, ""), [1, ""]);
});

test("a tick has as many decimals as its step needs", () => {
  assert.equal(tickText(0.012, 0.001, MS), "12 ms");
  assert.equal(tickText(0.0125, 0.0005, MS), "12.5 ms");
  assert.equal(tickText(0.01204, 0.00002, MS), "12.04 ms");
  assert.equal(tickText(300, 100, [1, "MB"]), "300 MB");
  assert.equal(tickText(-2, 1, [1, ""]), "-2");
  assert.equal(tickText(0, 0.1, [1, "s"]), "0.0 s");
});

test("different ticks have different texts", () => {
  for (const [low, high] of [[0.01, 0.011], [0.0123, 0.01231], [0, 7], [-3, 3], [1e-7, 9e-7]]) {
    const found = ticks(low, high, 6);
    const words = found.map((value) => tickText(value, found[1] - found[0], unitFor((low + high) / 2, "s")));
    assert.equal(new Set(words).size, found.length, String(words));
  }
});

test("a share is written in percent with its sign", () => {
  const words = [0, 0.1, -0.1, 0.03, 1.5].map((share) => percentText(share, 0.01));
  assert.deepEqual(words, ["0%", "+10%", "−10%", "+3%", "+150%"]);
  assert.deepEqual([0.005, -0.002, 0.01].map((share) => percentText(share, 0.001)), ["+0.5%", "−0.2%", "+1.0%"]);
});

test("different ticks in percent have different texts", () => {
  for (const [low, high] of [[-0.013, 0.013], [-0.02, 0.02], [0, 0.03]]) {
    const marks = ticks(low, high, 9);
    const words = marks.map((mark) => percentText(mark, marks[1] - marks[0]));
    assert.equal(new Set(words).size, words.length, String(words));
  }
});

test("a share written as zero has no sign", () => {
  assert.doesNotMatch(percentText(0.0004, 0.001), /[+−]/);
  assert.doesNotMatch(percentText(-0.0004, 0.001), /[+−]/);
});

test("unpacked floats equal the packed floats, to float32", () => {
  const values = [0, -1.5, 0.1, 1e-12, 3e38];
  const none = packed([]);
  const run = {
    low: packed(values), high: none, medians: packed([1]), lower: none, upper: none, quantiles: packed([2, 3]),
    beyond: {},
  };
  const [unpacked] = unpack({ unit: "s", runs: [run] }).runs;
  assert.deepEqual([...unpacked.low], values.map(Math.fround));
  assert.deepEqual([...unpacked.high], []);
  assert.deepEqual([...unpacked.quantiles], [2, 3]);
});

test("shares beyond the axis have one byte in the picture of an item and two in the picture of an assignment", () => {
  const none = packed([]);
  const of = (beyond) => {
    const run = { low: none, high: none, medians: packed([1, 2]), lower: none, upper: none, quantiles: none, beyond };
    return unpack({ unit: "s", runs: [run] }).runs[0].beyond.full;
  };
  const text = (...bytes) => btoa(String.fromCharCode(...bytes));
  assert.deepEqual(of({ full: text(0, 51, 255, 0) }), [[0, 0.2], [1, 0]]);
  assert.deepEqual(of({ full: text(0, 0, 51, 51, 255, 255, 1, 0) }), [[0, 0.2], [1, 1 / 65535]]);
});

test("unpacking keeps unpacked fields and does not change its input", () => {
  const before = sent([noisy(60, 1), noisy(70, 1)]);
  const copy = structuredClone(before);
  const after = unpack(before);
  assert.deepEqual(before, copy);
  assert.deepEqual({ ...after, runs: null }, { ...before, runs: null });
  assert.deepEqual(after.runs.map((run) => run.n), before.runs.map((run) => run.n));
});

test("values sent in another scale become the values of the item again, and zeros are exact", () => {
  const [offset, factor] = [3.25e-3, 7e-4];
  const values = [0, 3.1e-3, 4.5e-3, -2e-3];
  const text = packed(values.map((value) => (value - offset) / factor));
  const run = { low: text, high: text, medians: text, lower: text, upper: text, quantiles: text, beyond: {} };
  const [unpacked] = unpack({ unit: "s", scale: [offset, factor], runs: [run] }).runs;
  assert.equal(unpacked.low[0], 0);
  values.forEach((value, i) => assert.ok(Math.abs(unpacked.high[i] - value) < 1e-6 * factor, value));
});

test("the share of a run outside an axis is the mean over its windows, or for a short run over its values", () => {
  const item = { axes: { core: [1, 2.5], full: [0.5, 4] } };
  const long = { n: 200, medians: [1, 1, 1, 1], low: [], beyond: { core: [[0.5, 0, 0, 0.1], [0, 0, 0.2, 0]] } };
  assert.deepEqual(outside(item, long, "core", false), [0.15, 0.05]);
  assert.deepEqual(outside(item, long, "full", false), [0, 0]);
  const short = { n: 4, medians: [1, 3, 4, 0.5], low: [1, 3, 4, 0.5], beyond: {} };
  assert.deepEqual(outside(item, short, "core", false), [0.5, 0.25]);
  assert.deepEqual(outside(item, short, "full", false), [0, 0]);
});

test("a share of a run has no unnecessary digits", () => {
  assert.deepEqual([0.001, 0.0099, 0.01, 0.126].map(shareText), ["<1 %", "<1 %", "1 %", "13 %"]);
});

test("Z goes from the axis of the study to close, 0.5 to 99.5 % and all, and to none twice", () => {
  const axes = { close: 0, full: 0, levels: 0, pooled: 0 };
  assert.deepEqual(viewsOf({ axes, rule: "levels" }), ["levels", "close", "pooled", "full"]);
  assert.deepEqual(viewsOf({ axes, rule: "pooled" }), ["pooled", "close", "full"]);
});

test("Z goes from the lowest level up if the runs have several separate levels", () => {
  const axes = { full: 0, "close-3": 0, levels: 0, close: 0, pooled: 0, "close-2": 0 };
  assert.deepEqual(viewsOf({ axes, rule: "levels" }), ["levels", "close", "close-2", "close-3", "pooled", "full"]);
});

test("the texts of a plot in another scale round the stretched values", () => {
  const run = alike(2, 900).runs[0];
  const made = { ...alike(2, 900), scale: [0, 1], runs: [{ ...run, n: 2993 }, { ...run, n: run.low.length }] };
  assert.match(summary(made), /Run 1: about 3000 iterations/);
  assert.match(summary(made), /Run 2: 300 iterations/);
});

test("unpacking refuses text that does not contain complete floats", () => {
  const run = { low: "AAA=", high: "", medians: "", quantiles: "" };
  assert.throws(() => unpack({ runs: [run] }), RangeError);
});

test("the summary names every run with its iterations and five quantiles", () => {
  const one = Array.from({ length: 101 }, (_, i) => 0.01 + i * 0.0001);
  const words = summary(picture([one, one.map((value) => value * 2)]));
  assert.match(words, /^2 runs on one scale\. Run 1: 101 iterations, median 15 ms, /);
  assert.match(words, /Run 1: [^.]+ ms, middle half 12\.5 ms to 17\.5 ms, /);
  assert.match(words, /5th to 95th percentile 10\.5 ms to 19\.5 ms, all 10 ms to 20 ms/);
  assert.match(words, /Run 2: 101 iterations, median 30 ms/);
});

test("the summary says what a step and a spike look like", () => {
  const step = Array.from({ length: 3000 }, (_, i) => (i < 1000 ? 0.01 : 0.02));
  step[2000] = 0.09;
  const words = summary(picture([step, step]));
  assert.match(words, /all 10 ms to 90 ms; the line begins at 10 ms, ends at 20 ms, and lies within 10 ms to 20 ms\./);
});

test("the summary has one sentence per run", () => {
  for (const nRuns of [2, 10, 20]) {
    const words = summary(alike(nRuns));
    assert.deepEqual(words.match(/Run (\d+):/g), Array.from({ length: nRuns }, (_, i) => `Run ${i + 1}:`));
  }
});

test("the summary of a run does not depend on its position or on the other runs", () => {
  const odd = noisy(100, 0.09);
  const of = (series, at) => summary(picture(series)).split(/Run \d+: /)[at + 1].trim();
  const last = of([noisy(100, 0.011), noisy(100, 0.012), odd], 2);
  const first = of([odd, noisy(100, 0.013), noisy(100, 0.014)], 0);
  assert.equal(last, first);
});

test("the summary does not judge", () => {
  const words = summary(picture([noisy(100, 0.01), noisy(100, 0.01), noisy(100, 0.09)]));
  assert.doesNotMatch(words, /similar|differ|outlier|unusual|deviat|higher|lower|slow|fast|large|only|but|%/i);
});

test("the summary writes numbers in full", () => {
  for (const level of [12000, 1234567]) {
    assert.doesNotMatch(summary(picture([noisy(60, level), noisy(60, level)], { unit: "MB" })), /e\+/);
  }
});
