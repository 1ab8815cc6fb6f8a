import assert from "node:assert/strict";
import { test } from "node:test";

import { Clock, IDLE_MS, NOTED_MS } from "../../labeler/studies/ui/component/js/clock.js";
import { seeded } from "./pictures.mjs";

const MAX_PAUSES = 30;

/** A clock that the test sets; it begins at any number, like performance.now(). */
function started(at = 5000) {
  const world = { time: at };
  world.clock = new Clock(() => world.time);
  world.wait = (ms) => {
    world.time += ms;
    return world;
  };
  return world;
}

/** Random actions of a reviewer, each `wait(random)` after the previous one. */
function wander(world, random, n, wait) {
  for (let i = 0; i < n; i += 1) {
    world.wait(wait(random));
    const choice = random();
    if (choice < 0.4) world.clock.sign();
    else if (choice < 0.6) world.clock.hide();
    else if (choice < 0.9) world.clock.reveal();
    else world.clock.read();
  }
  world.clock.reveal();
}

function overlapOf(pauses) {
  return Math.max(0, ...pauses.slice(1).map(([start], i) => pauses[i][0] + pauses[i][1] - start));
}

test("the dwell is the time since painting by the clock passed in", () => {
  const { clock, wait } = started();
  assert.deepEqual(clock.read(), { dwell_ms: 0, pauses: [] });
  wait(1234);
  assert.deepEqual(clock.read(), { dwell_ms: 1234, pauses: [] });
});

test("the dwell is in whole milliseconds", () => {
  const { clock, wait } = started(0.1);
  wait(1234.56);
  assert.equal(clock.read().dwell_ms, 1235);
});

test("the next item begins a new dwell without earlier pauses", () => {
  const { clock, wait } = started();
  wait(NOTED_MS);
  clock.sign();
  clock.start();
  wait(700);
  assert.deepEqual(clock.read(), { dwell_ms: 700, pauses: [] });
});

test("a time without input is a pause from 15 s on", () => {
  assert.equal(NOTED_MS, 15000);
  const { clock, wait } = started();
  wait(14999);
  clock.sign();
  assert.deepEqual(clock.read().pauses, []);
  wait(15000);
  clock.sign();
  assert.deepEqual(clock.read().pauses, [[14999, 15000, "idle"]]);
});

test("a time without input before the answer is a pause", () => {
  const { clock, wait } = started();
  wait(20000);
  assert.deepEqual(clock.read(), { dwell_ms: 20000, pauses: [[0, 20000, "idle"]] });
});

test("a time in which the page was hidden is a pause, however short", () => {
  const { clock, wait } = started();
  wait(1000);
  clock.hide();
  wait(20);
  clock.reveal();
  assert.deepEqual(clock.read().pauses, [[1000, 20, "hidden"]]);
});

test("a time hidden for less than a millisecond is not a pause", () => {
  const { clock, wait } = started();
  clock.hide();
  wait(0.5);
  clock.reveal();
  assert.deepEqual(clock.read().pauses, []);
});

test("a long hidden time is only hidden, and idle time before it stays idle", () => {
  const { clock, wait } = started();
  wait(20000);
  clock.hide();
  wait(90000);
  clock.reveal();
  wait(16000);
  clock.sign();
  assert.deepEqual(clock.read().pauses, [[0, 20000, "idle"], [20000, 90000, "hidden"], [110000, 16000, "idle"]]);
});

test("hiding twice is one hidden time from the first hiding on", () => {
  const { clock, wait } = started();
  clock.hide();
  wait(100);
  clock.hide();
  wait(100);
  clock.reveal();
  wait(100);
  clock.reveal();
  assert.deepEqual(clock.read().pauses, [[0, 200, "hidden"]]);
});

test("input while the page is hidden does not end the hidden time", () => {
  const { clock, wait } = started();
  clock.hide();
  wait(20000);
  clock.sign();
  wait(20000);
  clock.reveal();
  assert.deepEqual(clock.read().pauses, [[0, 40000, "hidden"]]);
});

test("reading twice gives the same result", () => {
  const { clock, wait } = started();
  wait(20000).clock.sign();
  wait(30000);
  assert.deepEqual(clock.read(), clock.read());
});

test("a reviewer is away after 60 s without input, and back with the next input", () => {
  assert.equal(IDLE_MS, 60000);
  const { clock, wait } = started();
  wait(59999);
  assert.equal(clock.isAway, false);
  wait(1);
  assert.equal(clock.isAway, true);
  clock.sign();
  assert.equal(clock.isAway, false);
});

test("a reviewer is away while the page is hidden, and back when it is shown", () => {
  const { clock, wait } = started();
  clock.hide();
  assert.equal(clock.isAway, true);
  wait(100000);
  clock.reveal();
  assert.equal(clock.isAway, false);
});

test("asking whether the reviewer is away is not input", () => {
  const { clock, wait } = started();
  for (let i = 0; i < 61; i += 1) {
    wait(1000);
    assert.equal(clock.isAway, i >= 59);
  }
});

test("of very many pauses the 30 longest are sent, in order of time", () => {
  const { clock, wait } = started();
  for (let i = 1; i <= 50; i += 1) {
    wait(10);
    clock.hide();
    wait((i * 37) % 101);
    clock.reveal();
  }
  const { pauses } = clock.read();
  const longest = Array.from({ length: 50 }, (_, i) => ((i + 1) * 37) % 101).sort((a, b) => b - a).slice(0, MAX_PAUSES);
  assert.deepEqual(pauses.map(([, length]) => length).sort((a, b) => b - a), longest);
  const starts = pauses.map(([start]) => start);
  assert.deepEqual(starts, [...starts].sort((a, b) => a - b));
});

test("pauses never overlap, and their sum never exceeds the dwell", () => {
  for (let seed = 1; seed <= 300; seed += 1) {
    const world = started(seed);
    wander(world, seeded(seed), 60, (random) => Math.floor(random() ** 3 * 90000));
    const { dwell_ms: dwell, pauses } = world.clock.read();
    const total = pauses.reduce((sum, [, length]) => sum + length, 0);
    assert.ok(pauses.length <= MAX_PAUSES);
    assert.equal(overlapOf(pauses), 0, `seed ${seed}: ${JSON.stringify(pauses)}`);
    assert.ok(total <= dwell, `seed ${seed}: ${total} of ${dwell}`);
    assert.ok(pauses.every(([start, length]) => start >= 0 && start + length <= dwell), `seed ${seed}`);
    assert.ok(pauses.every((pause) => pause.slice(0, 2).every(Number.isInteger)), `seed ${seed}`);
  }
});

test("pauses never overlap when the clock has fractions of a millisecond", () => {
  const { clock, wait } = started(0);
  wait(15000.5);
  clock.hide();
  wait(15000.5);
  clock.reveal();
  const { dwell_ms: dwell, pauses } = clock.read();
  assert.equal(overlapOf(pauses), 0);
  assert.ok(pauses.reduce((sum, [, length]) => sum + length, 0) <= dwell);
});

test("an answer read while the page is hidden includes the hidden time so far", () => {
  const { clock, wait } = started();
  clock.hide();
  wait(90000);
  assert.deepEqual(clock.read(), { dwell_ms: 90000, pauses: [[0, 90000, "hidden"]] });
});

test("an item painted while the page is hidden is hidden from its first moment", () => {
  const { clock, wait } = started();
  clock.hide();
  wait(1000);
  clock.start();
  wait(90000);
  clock.reveal();
  assert.deepEqual(clock.read(), { dwell_ms: 90000, pauses: [[0, 90000, "hidden"]] });
});
