import assert from "node:assert/strict";
import { test } from "node:test";

import { arrange, cut, runAt } from "../../labeler/studies/ui/component/js/layout.js";
import { isIn } from "./canvas.mjs";
import { seeded } from "./pictures.mjs";

const WIDTHS = [320, 375, 480, 640, 768, 859, 860, 1024, 1280, 1440, 1920, 2560];
const HEIGHTS = [360, 500, 900];
const WIDE = 860;

/** Every geometry from 2 to 20 runs, with its input. */
function* geometries({ overlay = false } = {}) {
  for (const width of WIDTHS)
    for (const height of HEIGHTS)
      for (let nRuns = 2; nRuns <= 20; nRuns += 1)
        yield { asked: `${nRuns} at ${width} x ${height}`, nRuns, width, ...arrange(width, height, nRuns, overlay) };
}

function boxes({ panels, bars, ecdf }) {
  return [...panels, bars, ecdf];
}

function touch(a, b) {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

function middle({ x, y, w, h }) {
  return [x + w / 2, y + h / 2];
}

test("every run has a panel, and all runs share one when overlaid", () => {
  for (const { asked, panels, nRuns } of geometries()) assert.equal(panels.length, nRuns, asked);
  for (const { asked, panels } of geometries({ overlay: true })) assert.equal(panels.length, 1, asked);
});

for (const overlay of [false, true]) {
  const how = overlay ? "overlaid" : "side by side";

  test(`panels and strip lie inside the canvas, ${how}`, () => {
    for (const geometry of geometries({ overlay })) {
      const canvas = { x: 0, y: 0, w: geometry.width, h: geometry.height };
      for (const box of boxes(geometry)) assert.ok(isIn(canvas, box), `${geometry.asked}: ${JSON.stringify(box)}`);
    }
  });

  test(`panels and strip do not overlap, ${how}`, () => {
    for (const geometry of geometries({ overlay })) {
      const all = boxes(geometry);
      const pairs = all.flatMap((a, i) => all.slice(i + 1).map((b) => [a, b]));
      assert.deepEqual(pairs.filter(([a, b]) => touch(a, b)), [], geometry.asked);
    }
  });

  test(`panels and strip are large enough to see something in, ${how}`, () => {
    for (const geometry of geometries({ overlay })) {
      const smallest = Math.min(...boxes(geometry).flatMap(({ w, h }) => [w, h]));
      assert.ok(smallest >= 60, `${geometry.asked}: ${smallest}`);
    }
  });

  test(`the canvas is at least as high as asked for, ${how}`, () => {
    for (const height of HEIGHTS) assert.ok(arrange(1280, height, 10, overlay).height >= height);
  });
}

test("panels of one row share their y, and all panels their size", () => {
  for (const { asked, panels } of geometries()) {
    const columns = panels.findIndex(({ isFirst }, i) => i > 0 && isFirst);
    const perRow = columns < 0 ? panels.length : columns;
    panels.forEach((panel, i) => {
      assert.equal(panel.y, panels[i - (i % perRow)].y, asked);
      assert.deepEqual([panel.w, panel.h], [panels[0].w, panels[0].h], asked);
    });
  }
});

test("each row begins with one first panel and ends with one last panel", () => {
  for (const { asked, panels } of geometries()) {
    const rows = grouped(panels);
    for (const row of rows.values()) {
      assert.deepEqual(row.map(({ isFirst }) => isFirst), row.map((_, i) => i === 0), asked);
      assert.deepEqual(row.map(({ isLast }) => isLast), row.map((_, i) => i === row.length - 1), asked);
    }
  }
});

function grouped(panels) {
  const rows = new Map();
  panels.forEach((panel) => rows.set(panel.y, [...(rows.get(panel.y) ?? []), panel]));
  return rows;
}

test("an overlaid panel carries both axes", () => {
  const [panel] = arrange(1280, 600, 10, true).panels;
  assert.ok(panel.isFirst && panel.isLast);
});

test("ten runs on a wide screen are in two rows of five", () => {
  const { panels } = arrange(1280, 600, 10, false);
  assert.equal(new Set(panels.map(({ x }) => x)).size, 5);
  assert.equal(new Set(panels.map(({ y }) => y)).size, 2);
});

test("the strip is beside the runs on a wide screen and below them on a narrow screen", () => {
  for (const { asked, width, panels, bars, ecdf } of geometries()) {
    const right = Math.max(...panels.map(({ x, w }) => x + w));
    const bottom = Math.max(...panels.map(({ y, h }) => y + h));
    const strip = [bars, ecdf];
    if (width >= WIDE) assert.ok(strip.every(({ x }) => x >= right), asked);
    else assert.ok(strip.every(({ y }) => y >= bottom), asked);
  }
});

test("the middle of every panel belongs to its run", () => {
  for (const geometry of geometries()) {
    const found = geometry.panels.map((panel) => runAt(geometry, ...middle(panel)));
    assert.deepEqual(found, geometry.panels.map((_, i) => i), geometry.asked);
  }
});

test("the middle and both ends of every bar belong to its run", () => {
  for (const overlay of [false, true]) {
    for (const geometry of geometries({ overlay })) {
      const { bars, nRuns } = geometry;
      for (let run = 0; run < nRuns; run += 1) {
        const found = [0.01, 0.5, 0.99].map((share) =>
          runAt(geometry, bars.x + ((run + share) / nRuns) * bars.w, bars.y + bars.h / 2),
        );
        assert.deepEqual(found, [run, run, run], geometry.asked);
      }
    }
  }
});

test("the outermost edges of the bars belong to the first and the last run", () => {
  for (const geometry of geometries()) {
    const { bars, nRuns } = geometry;
    assert.equal(runAt(geometry, bars.x, bars.y), 0, geometry.asked);
    assert.equal(runAt(geometry, bars.x + bars.w, bars.y + bars.h), nRuns - 1, geometry.asked);
  }
});

test("no run is found outside panels and bars", () => {
  for (const geometry of geometries()) {
    const { panels, ecdf, width, height } = geometry;
    const [{ x, y, w, h }] = panels;
    const between = [[x + w + 6, y + h / 2], [x + w / 2, y - 4]];
    const places = [[0, 0], [-5, -5], [width + 5, height + 5], ...between, middle(ecdf)];
    assert.deepEqual(places.map((at) => runAt(geometry, ...at)), places.map(() => null), geometry.asked);
  }
});

test("the panel of all runs belongs to no single run", () => {
  for (const geometry of geometries({ overlay: true })) {
    assert.equal(runAt(geometry, ...middle(geometry.panels[0])), null, geometry.asked);
  }
});

const BOX = { x: 100, y: 200, w: 50, h: 40 };

/** The heights at which a path crosses the pixel columns of the box; outside values only as outside. */
function traced(path) {
  return Array.from({ length: BOX.w }, (_, i) => {
    const x = BOX.x + i + 0.5;
    return path.slice(1).flatMap((to, k) => {
      const from = path[k];
      if ((from[0] <= x) === (to[0] <= x)) return [];
      const at = from[1] + ((x - from[0]) / (to[0] - from[0])) * (to[1] - from[1]);
      return Math.abs(at - BOX.y - BOX.h / 2) <= BOX.h / 2 ? [at] : [];
    });
  });
}

test("a clipped path looks the same inside its box and ends near it", () => {
  const random = seeded(7);
  let nCut = 0;
  for (const far of [0, 1, 10, 1e3, 1e6, 1e9])
    for (let i = 0; i < 200; i += 1) {
      const away = () => (random() < 0.4 ? (random() - 0.5) * far * BOX.h : 0);
      const path = Array.from({ length: 12 }, (_, k) => [
        BOX.x + ((k + 0.5) / 12) * BOX.w, BOX.y + random() * BOX.h + away(),
      ]);
      const kept = cut(path, BOX);
      nCut += kept !== path;
      assert.ok(kept.every(([, y]) => Math.abs(y - BOX.y - BOX.h / 2) <= 1.5 * BOX.h));
      const [before, after] = [traced(path), traced(kept)];
      before.forEach((crossings, x) => {
        assert.equal(after[x].length, crossings.length, JSON.stringify(path));
        crossings.forEach((y, k) => assert.ok(Math.abs(after[x][k] - y) < 0.01, JSON.stringify(path)));
      });
    }
  assert.ok(nCut > 500);
});

test("points beside the box, infinite points and single far points are clipped too", () => {
  assert.deepEqual(cut([[120, 210], [1e9, 210]], BOX), [[120, 210], [200, 210]]);
  assert.deepEqual(cut([[120, 210], [130, Infinity]], BOX), [[120, 210], [120, 280]]);
  assert.deepEqual(cut([[120, 210], [130, 1e30]], BOX), [[120, 210], [120, 280]]);
  assert.deepEqual(cut([[120, -1e20], [130, 1e20]], BOX), [[125, 160], [125, 280]]);
  assert.deepEqual(cut([[120, 1e6], [130, 1e9], [140, 1e6]], BOX).every(([, y]) => y === 280), true);
  assert.deepEqual(cut([[120, 1e6]], BOX), []);
});
