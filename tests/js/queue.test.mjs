import assert from "node:assert/strict";
import { test } from "node:test";

import { MAX_BATCH, MAX_WAIT_MS, RESEND_AFTER_MS } from "../../labeler/studies/ui/component/js/queue.js";
import { memory } from "../../labeler/studies/ui/component/js/storage.js";
import { seeded } from "./pictures.mjs";
import { A, B, C, holdUp, idsIn, lasting, save, saveAll, SAVED, started, UNSAVED } from "./queues.mjs";

function fullStorage() {
  const refuse = () => {
    throw new DOMException("the quota has been exceeded", "QuotaExceededError");
  };
  return { ...memory(), setItem: refuse };
}

test("an event is sent at once", () => {
  const { queue, sent } = started();
  queue.push(A);
  assert.deepEqual(sent, ["a"]);
});

test("the second event waits until the first is acknowledged", () => {
  const { queue, sent } = started();
  queue.push(A);
  queue.push(B);
  queue.tick();
  assert.deepEqual(sent, ["a"]);
  assert.equal(save(queue, "a"), A);
  assert.deepEqual(sent, ["a", "b"]);
  assert.equal(queue.length, 1);
});

test("an event is sent again once the interval is over, not before", () => {
  const world = started();
  world.queue.push(A);
  world.time = RESEND_AFTER_MS - 1;
  world.queue.tick();
  assert.deepEqual(world.sent, ["a"]);
  world.time = RESEND_AFTER_MS;
  world.queue.tick();
  world.queue.tick();
  assert.deepEqual(world.sent, ["a", "a"]);
  world.time = 2 * RESEND_AFTER_MS;
  world.queue.tick();
  assert.deepEqual(world.sent, ["a", "a", "a"]);
});

test("the interval is between 2 and 4 seconds", () => {
  assert.ok(RESEND_AFTER_MS >= 2000 && RESEND_AFTER_MS <= 4000);
});

test("one request has a bounded number of answers and a bounded length", () => {
  for (const [comment, n] of [["", MAX_BATCH], ["é".repeat(2000), 7], ["😀".repeat(1000), 7], ["x".repeat(40_000), 1]]) {
    const world = started();
    world.queue.isDoubted = true; // nothing is sent yet
    for (let i = 0; i < MAX_BATCH + 5; i += 1) world.queue.push({ event_id: `e${i}`, comment });
    world.queue.isDoubted = false;
    world.sent.length = 0;
    world.queue.retry();
    assert.deepEqual(world.sent, Array.from({ length: n }, (_, i) => `e${i}`));
  }
});

test("fifty answers of an hour without a connection are sent in one request, and none is lost", () => {
  const world = started();
  const ids = Array.from({ length: 50 }, (_, i) => `e${i}`);
  const view = { axis: "levels", log: false, overlay: true, run: 3, width: 1280, height: 640, density: 2, pauses: [9] };
  ids.forEach((id, i) => {
    world.time = i * 72_000; // every attempt fails: nothing replies
    world.queue.tick();
    world.queue.push({ event_id: id, code: "K7QX2M", revision: i, answer: "similar", dwell_ms: 4321, view });
  });
  assert.equal(world.queue.length, 50);
  assert.ok(world.queue.isWaitingLong);
  const reopened = started(world.storage); // the browser was closed in the meantime
  reopened.queue.retry();
  assert.deepEqual(reopened.sent, ids);
  assert.deepEqual(saveAll(reopened.queue, ids, { last_event: "e49" }).map(({ event_id: id }) => id), ids);
  assert.equal(reopened.queue.length, 0);
  assert.deepEqual(idsIn(world.storage, UNSAVED), []);
  assert.equal(idsIn(world.storage, SAVED).length, 50);
});

test("a push does not resend the event in flight", () => {
  const world = started();
  world.queue.push(A);
  world.time = RESEND_AFTER_MS - 1;
  world.queue.push(B);
  assert.deepEqual(world.sent, ["a"]);
});

test("an acknowledgement of another event changes nothing", () => {
  const { queue, sent, storage } = started();
  queue.push(A);
  queue.push(B);
  const kept = storage.getItem(`${UNSAVED}a`);
  for (const id of ["b", "c", "", null, undefined]) assert.equal(save(queue, id), null);
  assert.equal(queue.length, 2);
  assert.equal(storage.getItem(`${UNSAVED}a`), kept);
  assert.deepEqual(sent, ["a"]);
});

test("a second acknowledgement of the same event does not remove the next event", () => {
  const { queue } = started();
  queue.push(A);
  queue.push(B);
  save(queue, "a");
  assert.equal(save(queue, "a"), null);
  assert.equal(queue.length, 1);
});

test("an empty queue acknowledges nothing and sends nothing", () => {
  const { queue, sent } = started();
  queue.tick();
  assert.equal(save(queue, "a"), null);
  assert.deepEqual(sent, []);
});

test("the wait counts as long from the second sending of the first event until its acknowledgement", () => {
  const world = started();
  assert.equal(world.queue.isWaitingLong, false);
  world.queue.push(A);
  world.queue.push(B);
  assert.equal(world.queue.isWaitingLong, false);
  world.time = RESEND_AFTER_MS;
  world.queue.tick();
  assert.equal(world.queue.isWaitingLong, true);
  save(world.queue, "a");
  assert.equal(world.queue.isWaitingLong, false);
});

test("the last event on an item is the newest unacknowledged event", () => {
  const { queue } = started();
  const withdrawn = { event_id: "w", code: "A", answer: "withdrawn" };
  [A, B, withdrawn].forEach((event) => queue.push(event));
  assert.equal(queue.lastOn("A"), withdrawn);
  assert.equal(queue.lastOn("B"), B);
  assert.equal(queue.lastOn("C"), null);
  ["a", "b", "w"].forEach((id) => save(queue, id));
  assert.equal(queue.lastOn("A"), null);
});

test("events survive a new queue on the same storage, in order, and are sent by its first tick", () => {
  const before = started();
  [A, B, C].forEach((event) => before.queue.push(event));
  const after = started(before.storage);
  assert.deepEqual(after.queue.events, [A, B, C]);
  assert.deepEqual(after.sent, []);
  after.queue.tick();
  assert.deepEqual(after.sent, ["a", "b", "c"]);
  assert.deepEqual(saveAll(after.queue, ["a", "b", "c"]), [A, B, C]);
  assert.deepEqual(after.sent, ["a", "b", "c"]);
});

test("a saved answer is kept as saved, and nothing else stays in the storage", () => {
  const { queue, storage } = started();
  queue.push(A);
  assert.deepEqual([idsIn(storage, UNSAVED), idsIn(storage, SAVED)], [["a"], []]);
  save(queue, "a");
  assert.deepEqual([idsIn(storage, UNSAVED), idsIn(storage, SAVED)], [[], ["a"]]);
});

test("queues of two reviewers, or of two studies, do not see each other's events", () => {
  const { queue, storage } = started();
  queue.push(A);
  for (const owner of ["s-8", "t-7"]) assert.equal(started(storage, owner).queue.length, 0);
  started(storage, "t-7").queue.push(B);
  assert.deepEqual(started(storage).queue.events, [A]);
});

for (const broken of ["", "{", "null", "7", '"text"', '{"order": 2}', "undefined", '{"event": {"event_id": "x"}}']) {
  test(`a storage that holds ${JSON.stringify(broken)} is an empty queue that works`, () => {
    const storage = memory();
    storage.setItem(`${UNSAVED}x`, broken);
    storage.setItem(`${SAVED}y`, broken);
    const { queue, sent } = started(storage);
    assert.equal(queue.length, 0);
    queue.push(A);
    assert.deepEqual(sent, ["a"]);
    assert.equal(save(queue, "a"), A);
  });
}

test("an unreadable storage gives an empty queue", () => {
  const getItem = () => {
    throw new DOMException("access is denied", "SecurityError");
  };
  assert.equal(started({ ...memory(), getItem }).queue.length, 0);
});

test("an event is sent even if the storage is full", () => {
  const { queue, sent } = started(fullStorage());
  assert.doesNotThrow(() => queue.push(A));
  assert.deepEqual(sent, ["a"]);
  assert.doesNotThrow(() => queue.push(B));
  assert.equal(save(queue, "a"), A);
});

/** One random step; `model` has the expected unacknowledged events, and the events on the server, in order. */
function step(random, world, model) {
  const choice = random();
  if (choice < 0.35) {
    const id = `e${model.pushed}`;
    model.pushed += 1;
    model.waiting.push(id);
    world.queue.push({ event_id: id, code: `C${model.pushed % 5}` });
  } else if (choice < 0.6) {
    world.time += Math.floor(random() * 2 * RESEND_AFTER_MS);
    world.queue.tick();
  } else if (choice < 0.75) {
    acknowledgeAny(random, world, model);
  } else if (choice < 0.8) {
    holdUp(world.queue, model.waiting[0]);
  } else if (choice < 0.9) {
    acknowledgeFlight(world, model);
  } else {
    model.inFlight = [];
    reload(world);
  }
}

/** The reply to the answers in flight, and the same reply again. */
function acknowledgeFlight(world, model) {
  const ids = model.inFlight.filter((id) => model.waiting.includes(id));
  model.waiting = model.waiting.filter((id) => !ids.includes(id));
  assert.deepEqual(saveAll(world.queue, ids).map(({ event_id: id }) => id), ids);
  assert.deepEqual(saveAll(world.queue, ids), []);
}

/** Late, repeated and false acknowledgements: only that of an answer in flight counts. */
function acknowledgeAny(random, world, model) {
  const id = `e${Math.floor(random() * (model.pushed + 2))}`;
  const counts = model.inFlight.includes(id) && model.waiting.includes(id);
  if (counts) model.waiting = model.waiting.filter((other) => other !== id);
  assert.equal(save(world.queue, id)?.event_id ?? null, counts ? id : null);
}

function reload(world) {
  const after = started(world.storage);
  world.queue = after.queue;
  world.queue.send = world.send;
  world.time = 0; // a new page's clock begins anew
  world.queue.now = () => world.time;
  world.queue.tick();
}

test("in every case each event is delivered in order and leaves the queue once, after its acknowledgement", () => {
  for (let seed = 1; seed <= 100; seed += 1) {
    const random = seeded(seed);
    const model = { pushed: 0, waiting: [], received: [], inFlight: [] };
    const world = started();
    world.send = ({ answers }) => {
      model.inFlight = answers.map(({ event_id: id }) => id);
      const first = model.waiting.slice(0, answers.length);
      assert.deepEqual(model.inFlight, first, `seed ${seed}: not the first that wait`);
      model.received.push(...first.filter((id) => !model.received.includes(id)));
    };
    world.queue.send = world.send;
    for (let i = 0; i < 200; i += 1) {
      step(random, world, model);
      assert.deepEqual(world.queue.events.map((event) => event.event_id), model.waiting, `seed ${seed}, step ${i}`);
    }
    while (model.waiting.length) {
      world.time += MAX_WAIT_MS;
      world.queue.tick();
      acknowledgeFlight(world, model);
    }
    assert.deepEqual(model.received, Array.from({ length: model.pushed }, (_, i) => `e${i}`), `seed ${seed}`);
    assert.deepEqual(idsIn(world.storage, UNSAVED), []);
  }
});

test("a queue knows whether a reload would lose its events", () => {
  for (const [storage, isForgotten] of [[fullStorage(), true], [memory(), true], [lasting(), false]]) {
    const { queue } = started(storage);
    assert.equal(queue.isForgotten, false);
    queue.push(A);
    assert.equal(queue.isForgotten, isForgotten);
  }
});

test("an event that was sent many times without acknowledgement counts as stuck until it is acknowledged", () => {
  const { queue, world } = tried(8);
  assert.equal(queue.isStuck, false);
  world.time += RESEND_AFTER_MS;
  queue.tick();
  assert.equal(queue.isStuck, true);
  save(queue, "a");
  queue.push(B);
  assert.equal(queue.isStuck, false);
});

/** A queue whose first event was sent several times. */
function tried(times) {
  const world = started();
  world.queue.push(A);
  for (let sent = 1; sent < times; sent += 1) {
    world.time += RESEND_AFTER_MS;
    world.queue.tick();
  }
  return { queue: world.queue, world };
}
