// Positions of the texts in the plot; letters have the width of an ordinary sans-serif font.

import assert from "node:assert/strict";
import { test } from "node:test";

import { arrange } from "../../labeler/studies/ui/component/js/layout.js";
import { paint } from "../../labeler/studies/ui/component/js/paint.js";
import { recorder, texts } from "./canvas.mjs";
import { AXES, noisy, picture } from "./pictures.mjs";

// All sizes take a minute. Daily: the ends, and both sides of the width where the layout changes.
const ALL_SIZES = process.env.ALL_SIZES === "1";
const WIDTHS = ALL_SIZES ? [320, 480, 640, 859, 860, 1024, 1280, 1440, 1920] : [320, 859, 860, 1920];
const DAILY_RUNS = new Set([2, 10, 20]);
const FLAGS = [false, true];

/** Runs with some iterations above and below the core axis. */
function spiky(nRuns, level, unit) {
  const spikes = [3, 3.1, 0.5].map((share) => share * level);
  return picture(Array.from({ length: nRuns }, (_, i) => [...noisy(17, level, { seed: i + 1 }), ...spikes]), { unit });
}

const VIEWS = AXES.flatMap((axis) =>
  FLAGS.flatMap((log) => FLAGS.map((overlay) => ({ axis, log, overlay, run: 1 }))),
);

/** The texts of every view of these plots, with the canvas and the input. */
function* wordings(pictures, widths, { showsNumbers = false } = {}) {
  for (const drawn of pictures)
    for (const width of widths)
      for (const view of VIEWS) {
        const nRuns = drawn.runs.length;
        const geometry = arrange(width, 600, nRuns, view.overlay);
        const { context, calls } = recorder();
        paint(context, drawn, geometry, view, showsNumbers);
        const asked = `${nRuns} runs at ${width}, ${JSON.stringify(view)}`;
        yield { asked, width, height: geometry.height, written: texts(calls).filter(({ words }) => words) };
      }
}

function counted(from, to) {
  const numbers = Array.from({ length: to - from + 1 }, (_, i) => from + i);
  return numbers.filter((n) => ALL_SIZES || DAILY_RUNS.has(n)).map((n) => spiky(n, 0.1, "s"));
}

function touching(written) {
  const close = (a, b) => Math.abs(a.y - b.y) < 9 && a.left < b.right - 1 && b.left < a.right - 1;
  return written.flatMap((a, i) => written.slice(i + 1).filter((b) => close(a, b)).map((b) => [a.words, b.words]));
}

function assertInside({ asked, width, height, written }) {
  const out = written.filter(({ left, right, y }) => left < 0 || right > width || y < 8 || y > height - 2);
  assert.deepEqual(out, [], asked);
}

for (const showsNumbers of FLAGS)
  test(`no words overlap and all are inside the canvas with${showsNumbers ? "" : "out"} numbers`, () => {
    for (const one of wordings(counted(2, 20), WIDTHS, { showsNumbers })) {
      assert.deepEqual(touching(one.written), [], one.asked);
      assertInside(one);
    }
  });

test("values in seconds of any size are inside the canvas", () => {
  const levels = [2e-9, 9.9e-7, 0.000123, 0.999, 12.5, 6000];
  for (const one of wordings(levels.map((level) => spiky(4, level, "s")), WIDTHS)) assertInside(one);
});

test("long values in other units are inside the canvas", () => {
  for (const one of wordings([spiky(4, 123456.5, "ops/ms"), spiky(4, 123456789, "B")], WIDTHS)) assertInside(one);
});

