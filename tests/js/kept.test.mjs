// Answers that the server refuses, delays, or loses again.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  ADOPT_AFTER_MS, AnswerQueue, MAX_WAIT_MS, N_SAVED, RESEND_AFTER_MS,
} from "../../labeler/studies/ui/component/js/queue.js";
import { keysOf, memory } from "../../labeler/studies/ui/component/js/storage.js";
import { A, B, C, holdUp, idsIn, lasting, OWNER, refuse, save, saveAll, SAVED, started, UNSAVED } from "./queues.mjs";

test("a refused answer stays listed with the reason, also after a reload, and the next one is sent", () => {
  const { queue, sent, storage } = started();
  queue.push(A);
  queue.push(B);
  assert.deepEqual(refuse(queue, "a"), { outcome: "refused", event: A, message: "Not yours." });
  assert.deepEqual(sent, ["a", "b"]);
  for (const one of [queue, started(storage).queue]) {
    assert.deepEqual(one.listed.map(({ event, reason }) => [event, reason]), [[A, "Not yours."]]);
    assert.deepEqual(one.events, [B]);
    assert.equal(one.lastOn("A"), null);
  }
});

test("only dismissing removes a refused answer, permanently", () => {
  const { queue, storage } = started();
  queue.push(A);
  refuse(queue, "a");
  save(queue, "a");
  assert.equal(queue.listed.length, 1);
  queue.dismiss("a");
  assert.deepEqual([queue.listed, started(storage).queue.listed, idsIn(storage, UNSAVED)], [[], [], []]);
});

test("while labelling is impossible, answers are kept, listed and tried less and less often; then sent at once", () => {
  const world = started();
  const { queue, sent } = world;
  queue.push(A);
  queue.push(B);
  for (const wait of [RESEND_AFTER_MS, 2 * RESEND_AFTER_MS, 3 * RESEND_AFTER_MS]) {
    assert.equal(holdUp(queue, "a", { closed: "Paused." }).outcome, "later");
    world.time += wait - 1;
    queue.tick();
    const n = sent.length;
    world.time += 1;
    queue.tick();
    assert.deepEqual(sent.slice(n), ["a", "b"]);
  }
  assert.deepEqual(queue.listed.map(({ event }) => event), [A, B]);
  queue.receive({ closed: "" });
  assert.deepEqual(sent, ["a", "a", "b", "a", "b", "a", "b", "a", "b"]);
  saveAll(queue, ["a", "b"]);
  assert.deepEqual([queue.length, queue.listed], [0, []]);
});

test("the longest wait between two attempts is bounded", () => {
  const world = started();
  world.queue.push(A);
  for (let i = 0; i < 20; i += 1) {
    holdUp(world.queue, "a");
    world.time += MAX_WAIT_MS;
    world.queue.tick();
  }
  assert.equal(world.sent.length, 21);
});

/** A queue with a, b and c saved and acknowledged by the server. */
function allSaved(storage = memory()) {
  const world = started(storage);
  [A, B, C].forEach((event) => {
    world.queue.push(event);
    save(world.queue, event.event_id, { last_event: event.event_id });
  });
  world.sent.length = 0;
  return world;
}

test("if the server's newest answer is the last saved answer, the queue asks nothing", () => {
  const { queue, sent } = allSaved();
  queue.receive({ last_event: "c" });
  queue.receive({});
  assert.deepEqual(sent, []);
});

test("after a restore the queue asks which answers are missing, and sends them again once, in order", () => {
  for (const last of ["a", null]) {
    const { queue, sent, storage } = allSaved();
    queue.receive({ last_event: last });
    assert.deepEqual(sent, [["a", "b", "c"]]);
    const missing = last ? ["b", "c"] : ["a", "b", "c"];
    queue.receive({ last_event: last, missing });
    assert.deepEqual(sent, [["a", "b", "c"], ...missing]);
    assert.equal(saveAll(queue, missing, { last_event: "c" }).length, missing.length);
    assert.deepEqual([queue.length, idsIn(storage, SAVED).length], [0, 3]);
  }
});

test("a study that went back twice to the same backup gets its answers twice", () => {
  const { queue, sent } = allSaved();
  for (let i = 0; i < 2; i += 1) {
    queue.receive({ last_event: "b" });
    queue.receive({ last_event: "b", missing: ["c"] });
    save(queue, "c", { last_event: "c" });
  }
  assert.deepEqual(sent, [["a", "b", "c"], "c", ["a", "b", "c"], "c"]);
});

test("earlier saved answers are sent before a new answer, also after a reload", () => {
  const { queue: before, storage } = allSaved();
  before.push({ event_id: "d", code: "D", answer: "similar" });
  const { queue, sent } = started(storage);
  queue.receive({ last_event: "b" });
  queue.receive({ last_event: "b", missing: ["c"] });
  saveAll(queue, ["c", "d"], { last_event: "d" });
  assert.deepEqual(sent, [["a", "b", "c"], "c", "d"]);
});

test("an answer refused only because earlier answers are missing is sent again after them", () => {
  const { queue, sent } = allSaved();
  queue.push({ event_id: "d", code: "D", answer: "similar" });
  assert.equal(refuse(queue, "d", "Not on offer.", { last_event: "b" }).outcome, "later");
  queue.receive({ last_event: "b", missing: ["c"] });
  saveAll(queue, ["c", "d"], { last_event: "d" });
  assert.deepEqual(sent, ["d", ["a", "b", "c"], "c", "d"]);
  assert.deepEqual(queue.listed, []);
});

test("a question without a response is asked again after the interval", () => {
  const world = allSaved();
  world.queue.receive({ last_event: "b" });
  world.time = RESEND_AFTER_MS;
  world.queue.tick();
  assert.equal(world.sent.length, 2);
});

test("the queue asks once about answers from another device", () => {
  const { queue, sent } = allSaved();
  queue.receive({ last_event: "elsewhere" });
  queue.receive({ last_event: "elsewhere", missing: [] });
  queue.receive({ last_event: "elsewhere" });
  assert.deepEqual(sent, [["a", "b", "c"]]);
});

test("the oldest saved answers make room for new ones", () => {
  const { queue, storage } = started();
  for (let i = 0; i < N_SAVED + 5; i += 1) {
    queue.push({ event_id: `e${i}`, code: "A" });
    save(queue, `e${i}`);
  }
  const kept = idsIn(storage, SAVED);
  assert.equal(kept.length, N_SAVED);
  assert.deepEqual([kept.includes("e4"), kept.includes("e5"), kept.includes(`e${N_SAVED + 4}`)], [false, true, true]);
});

test("if the storage is full, saved answers of any person make room for an unsaved answer", () => {
  const [storage, limit] = [lasting(), 4];
  const { setItem } = storage;
  storage.setItem = (key, value) => {
    if (keysOf(storage, "").length >= limit && storage.getItem(key) === null) throw new DOMException("full");
    setItem(key, value);
  };
  ["labeler-saved-t-1-x", "labeler-saved-t-1-y", "labeler-unsaved-t-1-z", "other"].forEach((key) => setItem(key, "1"));
  const { queue } = started(storage);
  queue.push(A);
  assert.equal(queue.isForgotten, false);
  assert.deepEqual(keysOf(storage, "").sort(), [`${UNSAVED}a`, "labeler-unsaved-t-1-z", "other"]);
  [B, C].forEach((event) => queue.push(event));
  assert.equal(queue.isForgotten, true);
});

test("answers stay in the order pressed when the clock is set back", () => {
  const storage = memory();
  let today = 5000;
  const options = { storage, owner: OWNER, send: () => {}, now: () => 0, today: () => today };
  const queue = new AnswerQueue(options);
  queue.push(B);
  today = 1000;
  queue.push(A);
  assert.deepEqual(queue.events, [B, A]);
  assert.deepEqual(new AnswerQueue(options).events, [B, A]);
});

/** The event that other windows of a browser receive after a write. */
function tell(queue, storage, key) {
  queue.onStorage(key, storage.getItem(key));
}

test("an answer of another window is sent by this window only after a while", () => {
  const storage = memory();
  const world = started(storage);
  started(storage).queue.push(A);
  tell(world.queue, storage, `${UNSAVED}a`);
  world.time = ADOPT_AFTER_MS - 1;
  world.queue.tick();
  world.queue.push(B);
  assert.deepEqual(world.sent, ["b"]);
  save(world.queue, "b");
  world.time = ADOPT_AFTER_MS;
  world.queue.tick();
  assert.deepEqual(world.sent, ["b", "a"]);
});

test("an answer that another window saved is not sent by this window", () => {
  const storage = memory();
  const [world, other] = [started(storage), started(storage)];
  other.queue.push(A);
  tell(world.queue, storage, `${UNSAVED}a`);
  save(other.queue, "a");
  [`${SAVED}a`, `${UNSAVED}a`, "something else", null].forEach((key) => tell(world.queue, storage, key));
  world.time = 2 * ADOPT_AFTER_MS;
  world.queue.tick();
  world.queue.receive({ last_event: "a" });
  assert.deepEqual([world.sent, world.queue.length], [[], 0]);
});

test("a browser that closed between the two steps of saving does not send the answer again", () => {
  const { queue, storage } = started();
  queue.push(A);
  const unsaved = storage.getItem(`${UNSAVED}a`);
  save(queue, "a");
  storage.setItem(`${UNSAVED}a`, unsaved);
  assert.equal(started(storage).queue.length, 0);
});
