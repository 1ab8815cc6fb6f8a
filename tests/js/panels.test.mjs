import assert from "node:assert/strict";
import { test } from "node:test";

import { arrange, runAt, summary } from "../../labeler/studies/ui/component/js/layout.js";
import { paint, thumbnail } from "../../labeler/studies/ui/component/js/paint.js";
import {
  arrangeAll, nRunsOf, paintAll, runOf, summaryOf, thumbnailOf, unpackAll,
} from "../../labeler/studies/ui/component/js/panels.js";
import { named, recorder, texts } from "./canvas.mjs";
import { noisy, sent } from "./pictures.mjs";

const VIEW = { axis: "core", log: false, overlay: false, run: null };
const SIZES = [[1280, 600], [1000, 500], [700, 400], [360, 640]];

function panelOf(nRuns, title) {
  const series = Array.from({ length: nRuns }, (_, i) => noisy(200, 0.01, { seed: i + 1 }));
  return { kind: "runs", ...(title && { title }), ...sent(series) };
}

function painted(panels, [width, height], view = {}) {
  const geometry = arrangeAll(panels, width, height, false);
  const { context, calls, open } = recorder();
  paintAll(context, panels, geometry, { ...VIEW, ...view });
  assert.equal(open(), 0);
  return { calls, geometry };
}

const plainOf = (calls) => calls.map(({ name, args, style }) => ({ name, args, style }));
const one = unpackAll([panelOf(10)]);
const two = unpackAll([panelOf(6, "Before"), panelOf(4, "After")]);

test("the canvas is cleared and white before anything is drawn", () => {
  const { calls, geometry } = painted(two, SIZES[0]);
  assert.deepEqual(calls.slice(0, 2).map(({ name, args }) => [name, args]), [
    ["clearRect", [0, 0, geometry.width, geometry.height]],
    ["fillRect", [0, 0, geometry.width, geometry.height]],
  ]);
  assert.equal(calls[1].style.fillStyle, "#fff");
});

test("a single panel has the whole canvas, as if there were no list", () => {
  for (const [width, height] of SIZES) {
    const { calls, geometry } = painted(one, [width, height], { run: 3 });
    const { context, calls: alone } = recorder();
    const own = arrange(width, height, 10, false);
    paint(context, one[0], own, { ...VIEW, run: 3 });
    assert.deepEqual([geometry.parts[0].geometry, geometry.height], [own, own.height]);
    const isMoved = calls.filter(({ name, args }) => name === "translate" && args.some(Boolean));
    assert.deepEqual(isMoved, []);
    assert.equal(plainOf(calls).length - alone.length, 5); // clear, fill, save, translate, restore
  }
});

test("two panels are beside each other if there is space, otherwise below each other, and never overlap", () => {
  for (const [width, height] of SIZES) {
    const { parts, height: all } = arrangeAll(two, width, height, false);
    const [a, b] = parts;
    assert.equal(b.x >= a.x + a.geometry.width, width >= 960);
    assert.equal(b.y >= a.y + a.geometry.height, width < 960);
    for (const { x, y, geometry } of parts) {
      assert.ok(x + geometry.width <= width + 1e-6 && y + geometry.height <= all + 1e-6);
    }
    assert.deepEqual(parts.map(({ before }) => before), [0, 6]);
  }
});

test("each panel has its title, and the runs of each panel begin with 1", () => {
  const words = texts(painted(two, SIZES[0]).calls).map((text) => text.words);
  assert.deepEqual(words.filter((each) => ["Before", "After"].includes(each)), ["Before", "After"]);
  assert.equal(words.filter((each) => each === "Run 1").length, 2);
  assert.equal(words.filter((each) => each === "Run 6").length, 1);
});

test("a highlighted run is in one panel only, and the pointer finds the run that is drawn there", () => {
  for (const size of SIZES) {
    const { calls, geometry } = painted(two, size, { run: 8 });
    const frames = named(calls, "strokeRect").filter(({ style }) => style.lineWidth === 2);
    const { x, y, geometry: { panels } } = geometry.parts[1];
    assert.deepEqual(frames.map(({ args: [left, top] }) => [left - 0.5, top - 0.5]), [[panels[2].x, panels[2].y]]);
    assert.equal(runOf(two, geometry, x + panels[2].x + 1, y + panels[2].y + 1), 8);
    assert.equal(runOf(two, geometry, panels[2].x + 1 + geometry.parts[0].x, geometry.parts[0].y + panels[2].y + 1),
      runAt(geometry.parts[0].geometry, panels[2].x + 1, panels[2].y + 1));
    assert.equal(runOf(two, geometry, -5, -5), null);
  }
  assert.equal(nRunsOf(two), 10);
});

test("the alternative text names each panel", () => {
  assert.equal(summaryOf(one), summary(one[0]));
  assert.match(summaryOf(two), /^Before: 6 runs on one scale\. .* After: 4 runs on one scale\. /u);
});

test("a small picture shows the panels beside each other, with the same width for each run", () => {
  const { context, calls } = recorder();
  thumbnailOf(context, two, 150, 22);
  assert.deepEqual(named(calls, "translate").map(({ args }) => args), [[0, 0], [90, 0]]);
  const { context: own, calls: alone } = recorder();
  thumbnail(own, one[0], 150, 22);
  const { context: whole, calls: listed } = recorder();
  thumbnailOf(whole, one, 150, 22);
  assert.deepEqual(plainOf(listed).slice(3, -1), plainOf(alone));
});

test("a panel of a kind that this version does not know is refused in words", () => {
  for (const kind of ["history", undefined]) {
    assert.throws(() => unpackAll([{ kind }]), /unknown kind .* Reload the page to continue/u);
  }
});

test("the panel of means says how much the second side differs, in per cent and in the unit, without a verdict", () => {
  const groups = [{ name: "A", values: [1e-3, 1.02e-3] }, { name: "B", values: [1.1e-3, 1.122e-3] }];
  const means = { kind: "means", groups, median: 1e-3, unit: "s", note: "lower is better", axes: {}, rule: "levels" };
  assert.equal(summaryOf([means]), "B − A: +10.0%, +0.101 ms, lower is better.");
  const same = { ...means, groups: [groups[0], { ...groups[0], name: "B" }], note: "" };
  assert.equal(summaryOf([same]), "B − A: 0%, 0.00 ms.");
});

test("the panel of means has a fixed width beside the runs and is below them in a narrow window", () => {
  const runs = { kind: "runs", runs: [{}, {}, {}] };
  const means = { kind: "means", groups: [] };
  const wide = arrangeAll([runs, runs, means], 1120, 600, false);
  assert.ok(wide.parts[2].x > wide.parts[1].x && wide.parts[2].y === wide.parts[0].y);
  assert.equal(wide.parts[2].geometry.width, 210);
  const narrow = arrangeAll([runs, runs, means], 360, 600, false);
  assert.deepEqual(narrow.parts.map(({ x }) => x), [0, 0, 0]);
  assert.ok(narrow.parts[2].y > narrow.parts[1].y);
});
