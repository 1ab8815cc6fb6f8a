// Queues of answers with a simulated server.

import { AnswerQueue } from "../../labeler/ui/component/js/queue.js";
import { keysOf, memory } from "../../labeler/ui/component/js/storage.js";

export const [OWNER, UNSAVED, SAVED] = ["s-7", "labeler-unsaved-s-7-", "labeler-saved-s-7-"];
export const [A, B, C] = ["a", "b", "c"].map((id) => ({ event_id: id, code: id.toUpperCase(), answer: "similar" }));

/** A queue with an adjustable clock and a list of sent messages; a question to the server is listed as its ids. */
export function started(storage = memory(), owner = OWNER) {
  const world = { storage, time: 0, sent: [], n_changes: 0 };
  const send = (event) => world.sent.push(event.check ?? event.event_id);
  const onChange = () => {
    world.n_changes += 1;
  };
  world.queue = new AnswerQueue({ storage, owner, send, now: () => world.time, onChange });
  return world;
}

/** Acknowledge the event; returns the queue's reaction. */
export function save(queue, id, more = {}) {
  return queue.receive({ ack: { event_id: id, saved: true, message: "" }, ...more })?.event ?? null;
}

export function refuse(queue, id, message = "Not yours.", more = {}) {
  return queue.receive({ ack: { event_id: id, saved: false, again: false, message }, ...more });
}

export function holdUp(queue, id, more = {}) {
  return queue.receive({ ack: { event_id: id, saved: false, again: true, message: "Busy." }, ...more });
}

export function idsIn(storage, prefix) {
  return keysOf(storage, prefix).map((key) => key.slice(prefix.length));
}

/** A lasting storage, like that of a browser. */
export function lasting() {
  const storage = memory();
  return Object.defineProperty(storage, "forgets", { value: undefined });
}
