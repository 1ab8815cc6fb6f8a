// Queues of answers with a simulated server.

import { AnswerQueue } from "../../labeler/studies/ui/component/js/queue.js";
import { keysOf, memory } from "../../labeler/studies/ui/component/js/storage.js";

export const [OWNER, UNSAVED, SAVED] = ["s-7", "labeler-unsaved-s-7-", "labeler-saved-s-7-"];
export const [A, B, C] = ["a", "b", "c"].map((id) => ({ event_id: id, code: id.toUpperCase(), answer: "similar" }));

/** A queue with an adjustable clock and a list of sent messages; a question to the server is listed as its ids. */
export function started(storage = memory(), owner = OWNER) {
  const world = { storage, time: 0, sent: [], n_changes: 0 };
  const send = ({ answers, check }) => world.sent.push(...(answers?.map(({ event_id: id }) => id) ?? [check]));
  const onChange = () => {
    world.n_changes += 1;
  };
  world.queue = new AnswerQueue({ storage, owner, send, now: () => world.time, onChange });
  return world;
}

/** Acknowledge the event; returns the event if it was in flight. */
export function save(queue, id, more = {}) {
  return answered(queue, { event_id: id, outcome: "saved" }, more)?.event ?? null;
}

/** Acknowledge all answers of one request; returns the events that were in flight. */
export function saveAll(queue, ids, more = {}) {
  const answers = ids.map((id) => ({ event_id: id, outcome: "saved" }));
  return queue.receive({ answers, ...more }).map(({ event }) => event);
}

export function refuse(queue, id, message = "Not yours.", more = {}) {
  return answered(queue, { event_id: id, outcome: "refused", message }, more);
}

export function holdUp(queue, id, more = {}) {
  return answered(queue, { event_id: id, outcome: "later", message: "Busy." }, more);
}

function answered(queue, answer, more) {
  return queue.receive({ answers: [answer], ...more })[0] ?? null;
}

export function idsIn(storage, prefix) {
  return keysOf(storage, prefix).map((key) => key.slice(prefix.length));
}

/** A lasting storage, like that of a browser. */
export function lasting() {
  const storage = memory();
  return Object.defineProperty(storage, "forgets", { value: undefined });
}
