import assert from "node:assert/strict";
import { test } from "node:test";

import {
  axisWords, deliveryWords, emptyWords, legendWords, progressWords, questionWords, roundWords, signWords, statusWords,
} from "../../labeler/studies/ui/component/js/words.js";

const HALF_WAY = { done: 5, total: 10, not_sure: 0, mode: "label", closed: null, end: null };

/** A screen with an item and no messages. */
function screen(more = {}) {
  return {
    refusal: "",
    queue: { length: 0, isWaitingLong: false },
    data: { mode: "label", done: 5 },
    current: { chosen: null },
    clock: { isAway: false },
    strip: { told: null },
    ...more,
  };
}

test("the screen shows the last answer: item, category, and how to undo it", () => {
  const told = (more, queued = 0) =>
    statusWords(screen({ strip: { told: more }, queue: { length: queued, isWaitingLong: false } }));
  const answered = { kind: "answered", code: "KCJ2YR", answer: "similar" };
  assert.match(told(answered), /^KCJ2YR: Similar, saved\..*\bU\b/u);
  assert.match(told(answered, 1), /^KCJ2YR: Similar, saving/u);
  assert.match(told({ ...answered, kind: "undone" }), /^Undone.*KCJ2YR.*similar/u);
  assert.match(told({ kind: "undone", code: "KCJ2YR", answer: null }, 1), /^Undoing.*KCJ2YR\.$/u);
});

test("on a touch screen there is no key to press", () => {
  const told = { kind: "answered", code: "KCJ2YR", answer: "similar" };
  assert.equal(statusWords(screen({ strip: { told }, isTouch: true })), "KCJ2YR: Similar, saved.");
});

test("a practice answer is right or different by sign, unless there is no right answer", () => {
  const item = { right: "similar", truth: null, panels: [] };
  assert.match(signWords(item, "similar"), /^✓/u);
  assert.match(signWords(item, "dissimilar"), /^✗/u);
  assert.equal(signWords(item, "not sure"), "");
  assert.equal(signWords({ ...item, right: null }, "similar"), "");
  assert.match(signWords({ truth: [10], panels: [{ n: 100 }] }, '[{"at": 10}]'), /^[✓✗]/u);
});

test("a press that does nothing says why", () => {
  assert.match(statusWords(screen({ strip: { told: { kind: "fast" } } })), /before you could see the item/u);
  assert.match(statusWords(screen({ strip: { told: { kind: "nothing" } } })), /undo/u);
});

test("the question has the number of runs if it contains the placeholder", () => {
  assert.equal(questionWords("Are these {runs} runs similar?", 10), "Are these ten runs similar?");
  assert.equal(questionWords("Are these {runs} runs similar?", 31), "Are these 31 runs similar?");
  assert.equal(questionWords("Are these {runs} runs similar?", null), "Are these runs similar?");
  assert.equal(questionWords("Alike?", 10), "Alike?");
});

test("the axis of the study is called main, whichever it is", () => {
  const panel = { rule: "levels", axes: { levels: 0, close: 0, pooled: 0, full: 0 } };
  assert.deepEqual(["levels", "close", "pooled", "full"].map((axis) => axisWords(axis, panel)), [
    "main", "close", "0.5 to 99.5 %", "all",
  ]);
  assert.equal(axisWords("pooled", { ...panel, rule: "pooled" }), "main");
});

test("the axes of separate levels are named from the lowest up", () => {
  const panel = { rule: "levels", axes: { levels: 0, close: 0, "close-2": 0, "close-3": 0 } };
  const names = ["close", "close-2", "close-3"].map((axis) => axisWords(axis, panel));
  assert.deepEqual(names, ["lowest level", "level 2", "level 3"]);
});

test("the line below the plot has the numbers of iterations per window and bin", () => {
  const run = (n, windows, bins) => ({ n, medians: Array(windows), low: Array(bins) });
  assert.match(legendWords({ n: 3000, runs: [run(3000, 60, 300)] }), /median of 50 iterations.*lowest of 10/u);
  assert.match(legendWords({ n: 6010, runs: [run(100, 2, 100), run(6010, 60, 300)] }), /median of 100 .*of 20/u);
  assert.match(legendWords({ n: 20, runs: [run(20, 20, 20)] }), /^Points/u);
});

test("progress is done of total", () => {
  assert.equal(progressWords(HALF_WAY, 0), "5 of 10 done");
  assert.equal(progressWords({ ...HALF_WAY, done: 0, total: 0 }, 0), "0 of 0 done");
});

test("unsaved answers count as done, but never beyond the total", () => {
  assert.equal(progressWords(HALF_WAY, 2), "7 of 10 done");
  assert.equal(progressWords({ ...HALF_WAY, done: 9 }, 3), "10 of 10 done");
});

test("progress includes the number of items that stay not sure", () => {
  assert.equal(progressWords({ ...HALF_WAY, not_sure: 3 }, 1), "6 of 10 done, 3 not sure");
});

test("the time that is left follows from the pace, and never says 0 minutes", () => {
  assert.equal(progressWords({ ...HALF_WAY, seconds: 30 }, 0), "5 of 10 done, about 3 min left");
  assert.equal(progressWords({ ...HALF_WAY, seconds: 5 }, 4), "9 of 10 done, about 1 min left");
  assert.equal(progressWords({ ...HALF_WAY, seconds: 30 }, 5), "10 of 10 done");
});

test("the revision of one label shows no progress", () => {
  assert.equal(progressWords({ ...HALF_WAY, mode: "revise" }, 1), "");
});

test("without an item, unsaved answers come first, unless labelling is impossible", () => {
  assert.equal(emptyWords(HALF_WAY, 1), "Saving your answers …");
  assert.match(emptyWords(HALF_WAY, 20, true), /every item that this browser has loaded\. More items come when/);
  assert.equal(emptyWords({ ...HALF_WAY, closed: "The study is paused." }, 1), "The study is paused.");
});

test("the message about an unsaved answer disappears once no answer is waiting", () => {
  assert.equal(statusWords(screen({ hindrance: "The study is busy." })), "Saved");
});

test("a page without an item only shows messages about unsaved answers", () => {
  assert.equal(deliveryWords({ length: 0 }), "");
  assert.equal(deliveryWords({ length: 2, attempts: 1 }), "Saving …");
  for (const more of [{ attempts: 2 }, { isHeld: true, attempts: 1 }]) {
    assert.match(deliveryWords({ length: 2, ...more }), /^Not saved yet: 2\. Kept in this browser/);
  }
});

test("without an item, a closed study has its own message", () => {
  assert.equal(emptyWords({ ...HALF_WAY, total: 0, closed: "The study is paused." }, 0), "The study is paused.");
});

test("without any assignment the screen says so", () => {
  assert.equal(emptyWords({ ...HALF_WAY, done: 0, total: 0, end: "End." }, 0), "Nothing is assigned to you yet.");
});

test("the last screen shows the message of the page if there is one", () => {
  assert.equal(emptyWords({ ...HALF_WAY, not_sure: 2, end: "Practice is over." }, 0), "Practice is over.");
});

test("items that stay not sure are named at the end, with the page to change them on", () => {
  assert.match(emptyWords({ ...HALF_WAY, done: 8, not_sure: 2 }, 0), /“not sure”: 2\..*My labels/u);
});

test("a reviewer who has labelled everything is thanked", () => {
  assert.match(emptyWords({ ...HALF_WAY, done: 10 }, 0), /Thank you/u);
});

test("a refusal comes before everything else", () => {
  const queue = { length: 2, isWaitingLong: true };
  assert.equal(statusWords(screen({ refusal: "No longer yours.", queue })), "No longer yours.");
});

test("answers that wait long are counted", () => {
  const busy = screen({ queue: { length: 3, isWaitingLong: true }, current: { chosen: "similar" } });
  assert.match(statusWords(busy), /^Not saved yet: 3\./u);
});

test("a chosen category is named with the question how sure the reviewer is", () => {
  const question = "How sure are you? 1 a guess, 2 fairly sure, 3 certain";
  const of = (chosen) => statusWords(screen({ current: { chosen }, clock: { isAway: true } }));
  assert.equal(of("similar"), `Similar. ${question}`);
  assert.equal(of("dissimilar"), `Dissimilar. ${question}`);
});

test("an inactive reviewer sees that time is not counted, but only with an item on the screen", () => {
  const away = { clock: { isAway: true } };
  assert.match(statusWords(screen(away)), /^Paused/u);
  assert.equal(statusWords(screen({ ...away, current: null })), "Saved");
});

test("answers on their way are being saved", () => {
  assert.equal(statusWords(screen({ queue: { length: 1, isWaitingLong: false } })), "Saving …");
});

test("practice shows that answers do not count", () => {
  assert.match(statusWords(screen({ data: { mode: "practice", done: 3, ack: {} } })), /^Practice/u);
});

test("'saved' appears once something is saved", () => {
  assert.equal(statusWords(screen()), "Saved");
  assert.equal(statusWords(screen({ data: { mode: "label", done: 0 } })), "");
});

test("the message about an unsaved answer says what happens to the answer", () => {
  const queue = { length: 2, isWaitingLong: false };
  const words = statusWords(screen({ hindrance: "The study is busy.", queue }));
  assert.match(words, /^The study is busy\. Not saved yet: 2\./u);
});

test("a window that cannot keep answers asks not to be closed", () => {
  const queue = { length: 1, isWaitingLong: true, isForgotten: true };
  assert.match(statusWords(screen({ queue })), /^Not saved yet: 1\. Do not close or reload this window/);
});

test("after many attempts a reload is proposed, unless it would lose the answers", () => {
  const queue = { length: 1, isWaitingLong: true, isStuck: true };
  assert.match(statusWords(screen({ queue })), /reload the page: nothing is lost\.$/);
  assert.doesNotMatch(statusWords(screen({ queue: { ...queue, isForgotten: true } })), /reload the page/);
});

test("a round with the items of a study says how often the answers equal the labels of people", () => {
  const items = [
    { code: "P1", labels: { similar: 1, dissimilar: 2 } }, { code: "P2", labels: { similar: 3 } },
    { code: "P3", labels: { similar: 2 } },
  ];
  assert.equal(
    roundWords(items, { P1: "similar", P2: "similar", P3: "not sure" }, "Two people agree on 71 %."),
    "The practice round is over. Your answers equal 4 of the 6 labels that people gave these items (67 %). " +
    "Two people agree on 71 %.",
  );
  assert.match(roundWords(items.slice(2), { P3: "not sure" }, ""), /not sure about any/u);
});
