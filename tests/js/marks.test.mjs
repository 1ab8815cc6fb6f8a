import assert from "node:assert/strict";
import { test } from "node:test";

import { MAX_MARKS, Marks, answerWords, marksIn } from "../../labeler/studies/ui/component/js/marks.js";

const QUESTION = { marks: "changes", ranges: false, kinds: [], no_mark: "no change" };

function series(n, more = {}, answer = null) {
  const marks = new Marks({ ...QUESTION, ...more }, n, answer);
  marks.see();
  return marks;
}

function marked(marks, ...points) {
  for (const point of points) {
    marks.moveTo(point);
    marks.mark();
  }
  return marks.answer;
}

test("no answer is chosen before the reviewer chooses one", () => {
  const marks = series(40);
  assert.deepEqual([marks.answer, marks.problem, marks.cursor], [null, "none", null]);
  marks.chooseNone();
  assert.equal(marks.answer, "no change");
});

test("marks are sorted, once per point, and removed at the cursor", () => {
  const marks = series(40);
  assert.equal(marked(marks, 30, 12, 12, 39), "[12,30,39]");
  marks.moveTo(30);
  assert.ok(marks.remove());
  assert.ok(!marks.remove());
  assert.equal(marks.answer, "[12,39]");
});

test("the cursor snaps to points that can be marked", () => {
  const marks = series(40);
  for (const [to, at] of [[0, 1], [-5, 1], [7.4, 7], [7.6, 8], [99, 39]]) {
    marks.moveTo(to);
    assert.equal(marks.cursor, at);
  }
  const start = series(40, { marks: "start" });
  start.moveTo(-1);
  assert.equal(start.cursor, 0);
});

test("the first step begins in the middle, and a held key moves by one per cent of what is shown", () => {
  const marks = series(3000);
  marks.step(1);
  assert.equal(marks.cursor, 1500);
  marks.step(-1);
  assert.equal(marks.cursor, 1499);
  marks.step(1, true);
  assert.equal(marks.cursor, 1529);
});

test("a series of one point has nothing to mark but may be steady from its start", () => {
  const marks = series(1);
  marks.step(1);
  assert.deepEqual([marks.isMarkable, marks.mark(), marks.cursor, marks.answer], [false, false, null, null]);
  marks.chooseNone();
  assert.equal(marks.answer, "no change");
  assert.equal(marked(series(1, { marks: "start" }), 0), "[0]");
});

test("all points can be marked, but never more than an answer can hold", () => {
  const all = Array.from({ length: 39 }, (_, i) => i + 1);
  assert.equal(marked(series(40), ...all), JSON.stringify(all));
  const many = series(5000);
  marked(many, ...Array.from({ length: MAX_MARKS + 5 }, (_, i) => i + 1));
  assert.equal(many.marks.length, MAX_MARKS);
});

test("where one mark is possible, the next mark takes its place", () => {
  assert.equal(marked(series(40, { marks: "change" }), 10, 20), "[20]");
  assert.equal(marked(series(40, { marks: "start" }), 10, 0), "[0]");
});

test("a mark replaces the answer without marks, which removes all marks; undo takes each step back", () => {
  const marks = series(40);
  marked(marks, 5);
  marks.chooseNone();
  assert.deepEqual([marks.marks, marks.answer], [[], "no change"]);
  marked(marks, 9);
  assert.equal(marks.answer, "[9]");
  const answers = [];
  while (marks.undo()) answers.push(marks.answer);
  assert.deepEqual(answers, ["no change", "[5]", null]);
});

test("the brackets go through the marks and around", () => {
  const marks = series(100);
  assert.ok(!marks.go(1));
  marked(marks, 20, 50, 80);
  const places = [1, 1, 1, -1, -1].map((direction) => marks.go(direction) && marks.cursor);
  assert.deepEqual(places, [20, 50, 80, 50, 20]);
});

test("a kind belongs to each mark where the question has kinds", () => {
  const marks = series(40, { kinds: ["up", "down"] });
  marked(marks, 10);
  assert.deepEqual([marks.answer, marks.problem], [null, "kind"]);
  marks.mark("up");
  marks.moveTo(20);
  marks.mark("down");
  marks.mark("up");
  assert.equal(marks.answer, '[{"at":10,"kind":"up"},{"at":20,"kind":"up"}]');
});

test("a range takes the place of the marks in it", () => {
  const marks = series(40, { ranges: true });
  marked(marks, 12, 30);
  marks.moveTo(14);
  marks.range();
  assert.equal(marks.problem, "range");
  marks.moveTo(10);
  marks.range();
  assert.equal(marks.answer, "[[10,14],30]");
  marks.moveTo(11);
  marks.remove();
  assert.equal(marks.answer, "[30]");
  assert.ok(!series(40).range());
});

test("an answer is possible only after the whole series was on the screen", () => {
  const marks = new Marks(QUESTION, 100);
  marks.zoomTo(0, 50);
  marks.see();
  marks.chooseNone();
  assert.equal(marks.problem, "whole");
  marks.zoomTo(60, 100); // leaves a gap
  marks.see();
  assert.equal(marks.problem, "whole");
  marks.zoomTo(40, 100);
  marks.see();
  assert.deepEqual([marks.problem, marks.answer], ["", "no change"]);
});

test("the zoom keeps the cursor in its place, ends at few points and at the whole series, and follows it", () => {
  const marks = series(100_000);
  marks.moveTo(25_000);
  marks.zoom(2);
  assert.deepEqual(marks.shown.map(Math.round), [12_500, 62_500]);
  for (let i = 0; i < 30; i += 1) marks.zoom(2);
  assert.equal(Math.round(marks.shown[1] - marks.shown[0]), 8);
  assert.ok(marks.shown[0] <= 25_000 && marks.shown[1] >= 25_001);
  for (let i = 0; i < 20; i += 1) marks.step(1);
  assert.ok(marks.shown[1] >= 25_021);
  for (let i = 0; i < 30; i += 1) marks.zoom(0.5);
  assert.deepEqual([marks.shown, marks.isZoomed], [[0, 100_000], false]);
});

test("an earlier answer is shown again, and its text stays the same", () => {
  for (const answer of ["[3,9]", "[[3,9],12]", '[{"at":3,"kind":"up"},{"at":[5,7],"kind":"up"}]', "no change"]) {
    assert.equal(series(40, { ranges: true }, answer).answer, answer);
  }
  assert.deepEqual(marksIn("not sure"), []);
  assert.equal(answerWords('[3,[5,7],{"at":9,"kind":"up"}]'), "3 marks: 3, 5 to 7, 9 (up)");
  assert.deepEqual(["[4]", "no change"].map(answerWords), ["1 mark: 4", "no change"]);
});
