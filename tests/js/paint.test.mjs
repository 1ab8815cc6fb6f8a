import assert from "node:assert/strict";
import { test } from "node:test";

import { plotOf } from "../../labeler/studies/ui/component/js/ink.js";
import { arrange, laneOf } from "../../labeler/studies/ui/component/js/layout.js";
import { paint } from "../../labeler/studies/ui/component/js/paint.js";
import { coordinates, isIn, isSame, named, recorder, texts } from "./canvas.mjs";
import { AXES, alike, noisy, picture } from "./pictures.mjs";

const SHORT_RUN = 50;
const SHAPES = new Set(["fillRect", "arc"]);
const VIEW = { axis: "core", log: false, overlay: false, run: null };
const BAND = "#9dbcd9";
const GRID = "#e4e8ee";
const [PAPER, LANE] = ["#fff", "#f1f2f4"];
const BEYOND = ["#b35806", "#12233d"]; // bars in the lanes: up to half of a window, and more

/** The drawing of a plot: {calls, geometry, open}. */
function painted(drawn, view = {}, { width = 1280, height = 600, showsNumbers = false } = {}) {
  const whole = { ...VIEW, ...view };
  const geometry = arrange(width, height, drawn.runs.length, whole.overlay);
  const { context, calls, open } = recorder();
  paint(context, drawn, geometry, whole, showsNumbers);
  return { calls, geometry, open: open() };
}

/** Lines through many points inside a box: data, not grid. */
function curvesIn(calls, box) {
  return named(calls, "stroke").filter(({ path, clip }) => path.length > 2 && clip && isSame(clip, box));
}

function frames(calls) {
  return named(calls, "strokeRect").map(({ args: [x, y, w, h], style }) => ({
    box: { x: x - 0.5, y: y - 0.5, w: w + 1, h: h + 1 },
    width: style.lineWidth,
  }));
}

/** Bars in the lanes of a panel: {above, below}, each with the heights. */
function barsIn(calls, panel) {
  const bars = named(calls, "fillRect")
    .filter(({ clip, style }) => clip && isSame(clip, panel) && BEYOND.includes(style.fillStyle))
    .map(({ args: [, y, , h], style }) => ({ y, h, colour: style.fillStyle }));
  const lane = laneOf(panel);
  return {
    above: bars.filter(({ y, h }) => Math.abs(y + h - panel.y - lane) < 1e-6),
    below: bars.filter(({ y }) => Math.abs(y - panel.y - panel.h + lane) < 1e-6),
  };
}

function bandsIn(calls, panel) {
  const isBand = ({ clip, style }) => clip && isSame(clip, plotOf(panel)) && style.fillStyle === BAND;
  return named(calls, "fillRect").filter(isBand);
}

function dotsIn(calls, panel) {
  const isDot = ({ clip, args: [, , w, h] }) => clip && isSame(clip, plotOf(panel)) && w === 1.5 && h === 1.5;
  return named(calls, "fillRect").filter(isDot).map(({ args: [x, y] }) => [x + 0.75, y + 0.75]);
}

function boxesOf({ panels, bars, ecdf }) {
  return [...panels, bars, ecdf];
}

function titles(calls) {
  return texts(calls).filter(({ words }) => /^Run \d+$/.test(words));
}

/** The texts above the panels at the right: numbers and counts. */
function remarks({ calls, geometry }) {
  return geometry.panels.map(({ x, y, w }) => {
    const remark = texts(calls).find((text) => text.y === y - 5 && Math.abs(text.right - x - w) < 1e-6);
    return remark.words;
  });
}

function everyView(nRuns) {
  const flags = [false, true];
  const toggles = flags.flatMap((log) => flags.map((overlay) => ({ log, overlay })));
  const runs = [null, 0, nRuns - 1];
  return AXES.flatMap((axis) =>
    toggles.flatMap(({ log, overlay }) => runs.map((run) => ({ axis, log, overlay, run }))),
  );
}

const ZEROS = [0, 0, 0, ...noisy(97, 0.01)];
const HOSTILE = {
  "all runs equal and level": picture([Array(100).fill(0.01), Array(100).fill(0.01)]),
  "nothing but noughts": picture([Array(100).fill(0), Array(100).fill(0)]),
  "nothing but noughts, few of them": picture([[0], [0, 0]]),
  "one iteration a run": picture([[0.01], [0.02], [0.03]]),
  "one iteration a run, all equal": picture([[7], [7]], { unit: "MB" }),
  "one iteration beside a thousand": picture([[0.01], noisy(1000, 0.01)]),
  "a short run beside a long one": picture([noisy(49, 0.01), noisy(50, 0.01), noisy(3001, 0.01)]),
  "20 runs": alike(20),
  "20 runs of one iteration": picture(Array.from({ length: 20 }, (_, i) => [i])),
  "measurements of nought": picture([ZEROS, ZEROS]),
  "negative measurements": picture([noisy(100, -3), noisy(100, -4)], { unit: "" }),
  "negative measurements but for one": picture([[...noisy(99, -3), 5], noisy(100, -4)], { unit: "" }),
  "measurements on both sides of nought": picture([noisy(100, -3), noisy(100, 4), noisy(100, 0)], { unit: "" }),
  "one huge outlier": picture([[...noisy(99, 1e-9), 1e9], noisy(100, 1e-9)]),
  "tiny measurements": picture([noisy(100, 1e-30), noisy(100, 2e-30)]),
  "huge measurements": picture([noisy(100, 1e30), noisy(100, 2e30)], { unit: "B" }),
  "no span asked for": picture([noisy(100, 1, { share: 1e-9 }), noisy(100, 1, { share: 1e-9 })], { minSpan: 0 }),
};

for (const [what, drawn] of Object.entries(HOSTILE))
  test(`everything drawn has a place, every saved state is restored and no text is undefined: ${what}`, () => {
    for (const [i, view] of everyView(drawn.runs.length).entries()) {
      const { calls, open } = painted(drawn, view, { width: [320, 1280][i % 2], showsNumbers: true });
      assert.ok(coordinates(calls).every(Number.isFinite), JSON.stringify(view));
      assert.equal(open, 0);
      assert.deepEqual(texts(calls).filter(({ words }) => /undefined|NaN|Infinity|null/.test(words)), []);
    }
  });

test("every run has a framed panel with its title and its data", () => {
  for (const nRuns of [2, 3, 7, 10, 13, 20]) {
    for (const width of [320, 860, 2560]) {
      const { calls, geometry } = painted(alike(nRuns), {}, { width });
      assert.deepEqual(titles(calls).map(({ words }) => words), geometry.panels.map((_, i) => `Run ${i + 1}`));
      for (const box of boxesOf(geometry)) {
        assert.equal(frames(calls).filter((frame) => isSame(frame.box, box)).length, 1);
      }
      for (const panel of geometry.panels) assert.equal(curvesIn(calls, panel).length, 1);
    }
  }
});

test("data is drawn only inside a clipped panel", () => {
  for (const drawn of [HOSTILE["one huge outlier"], HOSTILE["a short run beside a long one"], alike(10)]) {
    for (const view of everyView(drawn.runs.length)) {
      const { calls, geometry } = painted(drawn, view);
      const boxes = boxesOf(geometry);
      const isData = ({ name, path, style }) =>
        (SHAPES.has(name) && ![PAPER, LANE].includes(style.fillStyle)) || (name === "stroke" && path.length > 2);
      const data = calls.filter(isData);
      assert.ok(data.length > 0);
      const isPanel = (clip) => boxes.some((box) => isSame(box, clip) || isSame(plotOf(box), clip));
      assert.ok(data.every(({ clip }) => clip && isPanel(clip)), JSON.stringify(view));
    }
  }
});

test("a run of fewer than 50 iterations is drawn as one point per iteration, a longer run as a band", () => {
  const { calls, geometry } = painted(picture([noisy(SHORT_RUN - 1, 1), noisy(SHORT_RUN, 1)]));
  const [short, long] = geometry.panels;
  const arcsIn = (box) => named(calls, "arc").filter(({ clip }) => isSame(clip, box)).length;
  assert.deepEqual([arcsIn(short), bandsIn(calls, short).length], [SHORT_RUN - 1, 0]);
  assert.deepEqual([arcsIn(long), bandsIn(calls, long).length], [0, 1]);
});

test("a spike of one iteration among many is a dot at its position, and changes no band", () => {
  const spiked = noisy(3000, 1);
  spiked[1234] = 2;
  const { calls, geometry } = painted(picture([spiked, noisy(3000, 1)]), { axis: "full" });
  const [panel] = geometry.panels;
  const plot = plotOf(panel);
  const [x, y] = dotsIn(calls, panel).find(([, at]) => at < plot.y + plot.h / 2);
  assert.ok(Math.abs(y - plot.y) < 1e-3);
  assert.ok(Math.abs((x - panel.x) / panel.w - 1234 / 3000) < 1 / 300);
  assert.equal(bandsIn(calls, panel).length, 60);
  assert.ok(bandsIn(calls, panel).every(({ args: [, top] }) => top > plot.y + plot.h / 2));
});

test("the middle half of each window is a band, and its ends are on the scale", () => {
  const window = Array.from({ length: 50 }, (_, i) => i); // lower quartile 12.25, upper 36.75 of 0 to 49
  const { calls, geometry } = painted(picture([[...window, ...window], [...window, ...window]]), { axis: "full" });
  const [panel] = geometry.panels;
  const plot = plotOf(panel);
  const height = (value) => plot.y + plot.h * (1 - value / 49);
  bandsIn(calls, panel).forEach(({ args: [, top, , h] }) => {
    assert.ok(Math.abs(top - height(36.75)) < 1e-3);
    assert.ok(Math.abs(top + h - height(12.25)) < 1e-3);
  });
  assert.equal(bandsIn(calls, panel).length, 2);
});

test("panels and side panels have their lines at the same shares of the median", () => {
  const { calls, geometry } = painted(alike(10));
  const isGrid = ({ style, path: [from, to] }) => style.strokeStyle === GRID && from[1] === to[1];
  const starts = named(calls, "stroke").filter(isGrid).map(({ path }) => path[0]);
  const isOf = (box) => ([x, y]) => x === box.x && y > box.y && y < box.y + box.h;
  const linesIn = (box) => starts.filter(isOf(box)).map(([, y]) => (y - box.y).toFixed(3));
  const [first] = geometry.panels;
  assert.ok(linesIn(first).length >= 3);
  for (const box of [...geometry.panels, geometry.bars, geometry.ecdf]) assert.deepEqual(linesIn(box), linesIn(first));
});

test("every run has a mark for its median in the gap at its right", () => {
  const { calls, geometry } = painted(picture([noisy(200, 1), noisy(200, 1.5)]), { axis: "full" });
  const marks = named(calls, "fill").filter(({ clip }) => !clip).map(({ path }) => path[0]);
  geometry.panels.forEach((panel, i) => {
    const [, at] = marks.find(([x]) => Math.abs(x - panel.x - panel.w - 2) < 1e-6);
    const middle = panel.y + panel.h / 2;
    assert.ok(i === 0 ? at > middle : at < middle);
  });
});

test("a shorter run takes its share of the width", () => {
  const { calls, geometry } = painted(picture([noisy(500, 1), noisy(1000, 1)]));
  const endOf = (panel) => Math.max(...bandsIn(calls, panel).map(({ args: [x, , w] }) => (x + w - panel.x) / panel.w));
  assert.ok(Math.abs(endOf(geometry.panels[0]) - 0.5) < 0.01);
  assert.ok(Math.abs(endOf(geometry.panels[1]) - 1) < 0.01);
});

test("the same value lies at the same height in all panels of a row", () => {
  const same = noisy(200, 1);
  const { calls, geometry } = painted(picture([same, same, same, noisy(200, 1.3)]));
  const [first, second] = geometry.panels.map((panel) => curvesIn(calls, panel)[0].path.map(([, y]) => y - panel.y));
  assert.deepEqual(first, second);
});

test("only the highlighted run has a stronger frame", () => {
  const { calls, geometry } = painted(alike(5), { run: 3 });
  const strong = frames(calls).filter(({ width }) => width > 1);
  assert.equal(strong.length, 1);
  assert.ok(isSame(strong[0].box, geometry.panels[3]));
  assert.equal(frames(painted(alike(5)).calls).filter(({ width }) => width > 1).length, 0);
});

test("in a shared panel the highlighted run is drawn last and widest, and the others are faded", () => {
  for (const standsOut of [0, 2, 4]) {
    const { calls, geometry } = painted(alike(5), { overlay: true, run: standsOut });
    for (const box of [geometry.panels[0], plotOf(geometry.ecdf)]) {
      const curves = curvesIn(calls, box);
      assert.equal(curves.length, 5);
      const widths = curves.map(({ style }) => style.lineWidth);
      assert.deepEqual(widths.map((width) => width === Math.max(...widths)), [false, false, false, false, true]);
      const colours = new Set(curves.slice(0, -1).map(({ style }) => style.strokeStyle));
      assert.equal(colours.size, 1);
      assert.ok(!colours.has(curves.at(-1).style.strokeStyle));
    }
  }
});

test("the highlighted run has the last curve", () => {
  const levels = picture([1, 2, 3, 4].map((level) => noisy(200, level)));
  const heightOf = (run) => {
    const { calls, geometry } = painted(levels, { overlay: true, axis: "full", run });
    return curvesIn(calls, geometry.panels[0]).at(-1).path[0][1];
  };
  const heights = [0, 1, 2, 3].map(heightOf);
  assert.deepEqual(heights, [...heights].sort((a, b) => b - a));
  assert.equal(new Set(heights).size, 4);
});

test("without a highlighted run, all lines are equally wide and no two of ten look the same", () => {
  const { calls, geometry } = painted(alike(10), { overlay: true });
  const styles = curvesIn(calls, geometry.panels[0]).map(({ style }) => style);
  assert.equal(new Set(styles.map(({ lineWidth }) => lineWidth)).size, 1);
  const dashes = named(calls, "setLineDash").filter(({ clip }) => clip && isSame(clip, geometry.panels[0]));
  const looks = styles.map(({ strokeStyle }, i) => `${strokeStyle} ${dashes.slice(-10)[i].args[0]}`);
  assert.equal(new Set(looks).size, 10);
});

test("every run has a box and a number in the spread", () => {
  for (const nRuns of [2, 10, 20]) {
    const { calls, geometry } = painted(alike(nRuns));
    const bars = named(calls, "fillRect").filter(({ clip }) => clip && isSame(clip, plotOf(geometry.bars)));
    assert.equal(bars.length, nRuns);
    const { y, h } = geometry.bars;
    const below = texts(calls).filter((text) => /^\d+$/.test(text.words) && text.y > y + h && text.y < y + h + 20);
    assert.deepEqual(below.map(({ words }) => words), Array.from({ length: nRuns }, (_, i) => String(i + 1)));
  }
});

test("distribution functions rise from the bottom to the top and never fall", () => {
  const { calls, geometry } = painted(alike(4), { axis: "full" });
  const { x: left, w } = geometry.ecdf;
  const curves = curvesIn(calls, plotOf(geometry.ecdf));
  assert.equal(curves.length, 4);
  for (const { path } of curves) {
    assert.deepEqual([path[0][0], path.at(-1)[0]], [left, left + w]);
    assert.ok(path.every(([x, at], i) => i === 0 || (x >= path[i - 1][0] - 1e-6 && at <= path[i - 1][1] + 1e-6)));
  }
});

test("titles have medians only if the study shows numbers", () => {
  const level = (value) => Array(60).fill(value);
  const drawn = picture([level(0.01), level(0.01), level(0.011)]);
  assert.deepEqual(remarks(painted(drawn)), ["", "", ""]);
  const numbers = remarks(painted(drawn, {}, { showsNumbers: true }));
  assert.equal(numbers[0], "median 0%");
  assert.equal(numbers[2], "median +10.0%");
  const words = texts(painted(drawn, { overlay: true }).calls).map((text) => text.words);
  assert.ok(words.every((one) => !one.startsWith("median")));
});

test("no title has a number if the pooled median is not positive", () => {
  const drawn = picture([noisy(60, -1), noisy(60, -1)], { unit: "" });
  assert.ok(remarks(painted(drawn, {}, { showsNumbers: true })).every((words) => !words.includes("median")));
});

test("the share of a run outside the current axis is above its panel", () => {
  const high = [...noisy(193, 1), 5, 6, 7, 5, 6, 7, 8];
  const low = [0.1, ...noisy(199, 1)];
  const drawn = picture([high, low, noisy(200, 1)]);
  const inside = picture([high, low, noisy(200, 1)].map((values) => values.map((value) => Math.min(value, 1))));
  assert.deepEqual(remarks(painted(drawn)), ["▲ 4 %", "▼ <1 %", ""]);
  assert.deepEqual(remarks(painted(drawn, { axis: "full" })), ["", "", ""]);
  assert.equal(remarks(painted(inside))[0], "");
});

test("values beyond the axis are a bar in the lane of their side, as high as their share of the window", () => {
  const series = [[...noisy(192, 1), ...Array(8).fill(9)], [0.1, ...noisy(199, 1)], noisy(200, 1)];
  const { calls, geometry } = painted(picture(series), { axis: "core" });
  const [one, two, three] = geometry.panels.map((panel) => barsIn(calls, panel));
  const lane = laneOf(geometry.panels[0]);
  assert.deepEqual([one.above.length, one.below.length], [1, 0]);
  assert.ok(Math.abs(one.above[0].h - lane * (41 / 255)) < 1e-6);
  assert.deepEqual([two.above.length, two.below.map(({ h }) => h)], [0, [1.5]]); // one of 50 is still seen
  assert.equal(one.above[0].colour, BEYOND[0]);
  assert.deepEqual(three, { above: [], below: [] });
});

test("a window with more than half of its values beyond the axis has a darker bar", () => {
  const drawn = picture([[...noisy(150, 1), ...Array(50).fill(9)], noisy(200, 1)]);
  const { calls, geometry } = painted(drawn, { axis: "close" });
  const [{ above }] = geometry.panels.map((panel) => barsIn(calls, panel));
  assert.equal(above.at(-1).colour, BEYOND[1]);
});

test("without an iteration outside the axis there is no bar", () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const drawn = picture([noisy(200, 0.01, { seed }), noisy(200, 0.01, { seed: seed + 100 })]);
    const { calls, geometry } = painted(drawn, { axis: "full" });
    const bars = geometry.panels.map((panel) => barsIn(calls, panel));
    assert.ok(bars.every(({ above, below }) => above.length + below.length === 0), `seed ${seed}`);
  }
});

test("iterations of a short run outside the axis have bars too", () => {
  const drawn = picture([[...noisy(29, 1), 9], noisy(200, 1), noisy(200, 1)]);
  const { calls, geometry } = painted(drawn, { axis: "pooled" });
  assert.equal(barsIn(calls, geometry.panels[0]).above.length, 1);
});

test("values of zero are visible on a logarithmic axis", () => {
  const { calls, geometry } = painted(picture([ZEROS, noisy(100, 0.01)]), { axis: "full", log: true });
  assert.equal(barsIn(calls, geometry.panels[0]).below.length, 1);
});

test("values far outside the axis never make a line too long for dashes", () => {
  const series = Array.from({ length: 10 }, (_, i) => noisy(400, 0.01, { seed: i + 1 }));
  series[7] = series[7].map((value, i) => (i % 100 < 2 ? value * 1e7 : value)); // a dashed line among the distributions
  const drawn = picture(series);
  for (const view of [{}, { overlay: true }, { log: true }, { overlay: true, run: 7 }]) {
    const { calls } = painted(drawn, view);
    const length = Math.max(...named(calls, "stroke").flatMap(({ path }) => path.flat().map(Math.abs)));
    assert.ok(length <= 2 * 1280, `${JSON.stringify(view)}: ${length} pixels away`);
  }
});

test("with very many runs in a narrow window, each run has its line in its panel", () => {
  const series = Array.from({ length: 200 }, (_, i) => noisy(4 * SHORT_RUN, 0.01, { seed: i + 1 }));
  const { calls, geometry } = painted(picture(series), {}, { width: 320 });
  assert.ok(geometry.height > 9000);
  for (const panel of geometry.panels) {
    const [{ path }] = curvesIn(calls, panel);
    assert.ok(path.some(([x, y]) => isIn(panel, { x, y, w: 0, h: 0 })));
  }
});
