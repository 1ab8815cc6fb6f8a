import assert from "node:assert/strict";
import { test } from "node:test";

import { paintLoupe, paintMarks, placeAt, seriesOf, valueAt } from "../../labeler/studies/ui/component/js/marked.js";
import { arrange, paint, unpack, xAt } from "../../labeler/studies/ui/component/js/points.js";
import { coordinates, isIn, named, recorder, texts } from "./canvas.mjs";
import { noisy, packed } from "./pictures.mjs";

const VIEW = { axis: "full", log: false, overlay: false, run: null };
const SIZES = [[1280, 600], [800, 500], [360, 640]];

/** A panel of points with this many values at each position. */
function panelOf(n, each = 1, level = 1e-3) {
  const values = noisy(n * each, level);
  const at = each > 1 ? packed(values.map((_, i) => Math.floor(i / each))) : null;
  const axes = { full: [Math.min(...values) * 0.99, Math.max(...values) * 1.01] };
  const middles = packed(values.slice(0, Math.min(n, 60)));
  const more = { median: level, values: packed(values), at, middles };
  return unpack({ kind: "points", rule: "full", axes, n, unit: "s", ...more });
}

function drawn(panel, [width, height], more, view = VIEW) {
  const geometry = arrange(width, height);
  const { context, calls } = recorder();
  const marks = { marks: [], cursor: null, begin: null, shown: [0, panel.n], kinds: [], ...more };
  paintMarks(context, panel, geometry, view, marks, seriesOf(panel));
  return { calls, geometry };
}

const mark = (first, more = {}) => ({ first, last: first, kind: null, ...more });

test("the picture has the same aspect in all windows, so that slopes look the same", () => {
  const ratios = SIZES.map(([width, height]) => arrange(width, height).panel).map(({ w, h }) => w / h);
  ratios.forEach((ratio) => assert.ok(Math.abs(ratio - ratios[0]) < 1e-9));
});

test("a mark is a line at the middle of its point, with its note above it", () => {
  for (const size of SIZES) {
    const { calls, geometry } = drawn(panelOf(40), size, { marks: [mark(12, { note: "2/3" })] });
    const x = xAt(geometry, [0, 40], 12);
    const [{ path, style }] = named(calls, "stroke");
    assert.deepEqual([path[0][0], path[1][0]], [x, x]);
    assert.equal(style.lineWidth, 2);
    const [note] = texts(calls);
    assert.equal(note.words, "2/3");
    assert.ok(Math.abs((note.left + note.right) / 2 - x) < 1e-6);
  }
});

test("marks, the cursor and known marks differ without colour", () => {
  const { calls } = drawn(panelOf(40), SIZES[0], { marks: [mark(5)], cursor: 20, truth: [30] });
  const lines = named(calls, "stroke").filter(({ path }) => path.length === 2);
  const dashes = named(calls, "setLineDash").map(({ args: [dash] }) => dash.join());
  assert.equal(lines.length, 3);
  assert.equal(new Set(dashes.filter(Boolean)).size, 2);
  assert.ok(dashes.includes(""));
  assert.equal(named(calls, "arc").length, 1);
});

test("what the pointer touches is what is drawn there, zoomed or not", () => {
  const panel = panelOf(3000);
  for (const size of SIZES) {
    const geometry = arrange(...size);
    for (const shown of [[0, 3000], [1200.25, 1264.75]]) {
      const point = Math.round((shown[0] + shown[1]) / 2);
      assert.equal(Math.floor(placeAt(geometry, shown, xAt(geometry, shown, point))), point);
    }
    const [low, high] = panel.axes.full;
    const { y, h } = geometry.panel;
    assert.ok(Math.abs(valueAt(geometry, [low, high], VIEW, y + h / 2) - (low + high) / 2) < 1e-12);
    const inLog = valueAt(geometry, [1, 100], { log: true }, y + h / 2);
    assert.ok(Math.abs(inLog - 10) < 1e-9);
  }
});

test("the points around the cursor are drawn one by one, with numbers that do not touch", () => {
  for (const [n, each] of [[3000, 1], [100_000, 1], [40, 3], [3, 1]]) {
    const panel = panelOf(n, each);
    for (const width of [360, 1200]) {
      for (const cursor of [0, Math.floor(n / 2), n - 1]) {
        const { context, calls } = recorder();
        paintLoupe(context, width, 84, panel, seriesOf(panel), { cursor, marks: [mark(cursor)], kinds: [] });
        assert.equal(named(calls, "arc").length, Math.min(n, 25) * each);
        const numbers = texts(calls).filter(({ y }) => y > 70).sort((a, b) => a.left - b.left);
        assert.ok(numbers.some(({ words }) => words === String(cursor)));
        numbers.slice(1).forEach((one, i) => assert.ok(one.left > numbers[i].right));
        assert.ok(coordinates(calls).every(Number.isFinite));
      }
    }
  }
});

test("a zoomed picture draws only the shown points, and labels them", () => {
  const panel = panelOf(3000);
  const geometry = arrange(1280, 600);
  const { context, calls } = recorder();
  paint(context, panel, geometry, { ...VIEW, shown: [1000, 1050] });
  const discs = named(calls, "arc");
  assert.ok(discs.length >= 50 && discs.length <= 53);
  const labels = texts(calls).filter(({ y }) => y > geometry.panel.y + geometry.panel.h).map(({ words }) => words);
  assert.ok(labels.length > 3 && labels.every((words) => /^1\u2009?0[0-5]\d$/u.test(words)));
});

test("100,000 points are drawn as one bar per column of pixels, all inside the panel", () => {
  const panel = panelOf(100_000);
  const geometry = arrange(1280, 600);
  const { context, calls } = recorder();
  paint(context, panel, geometry, VIEW);
  const bars = named(calls, "fillRect").filter(({ args: [, , width] }) => width === 1);
  assert.ok(bars.length <= Math.ceil(geometry.panel.w) + 1 && bars.length > geometry.panel.w / 2);
  bars.forEach(({ args: [x, y, w, h] }) => assert.ok(isIn(geometry.panel, { x, y, w, h })));
});

test("constant series, one point and the middle of several values", () => {
  const constant = unpack({
    kind: "points", rule: "full", axes: { full: [0.5, 1.5] }, n: 4, unit: "s", median: 1,
    values: packed([1, 1, 1, 1]), at: null, middles: packed([1, 1, 1, 1]),
  });
  const { context, calls } = recorder();
  paintLoupe(context, 400, 84, constant, seriesOf(constant), { cursor: 2, marks: [], kinds: [] });
  assert.ok(coordinates(calls).every(Number.isFinite));
  const several = seriesOf({ values: Float64Array.from([3, 1, 2, 9, 5]), at: [0, 0, 0, 2, 2], n: 3 });
  assert.deepEqual([several.middle(0), several.middle(2), several.at(1)], [2, 7, []]);
  assert.ok(Number.isNaN(several.middle(1)));
});
