// Keeps answers from the key press until the server has them. The latest saved answers are kept as well, because a
// backup of the study may be restored. Each answer has its own key, so windows do not overwrite each other's answers.

import { keysOf, store, stored } from "./storage.js";

export const RESEND_AFTER_MS = 3000;
export const MAX_WAIT_MS = 15000; // longest time between two attempts if the server cannot save now
export const ADOPT_AFTER_MS = 10000; // how long another window may take to save its own answer
export const N_SAVED = 200; // number of saved answers to keep
export const MAX_BATCH = 50; // number of answers in one request, as many as the server takes
// Together, two requests that are on their way must be smaller than 64 kB, the limit of browsers for a closing window.
const MAX_BYTES = 30_000;
const CHECK = "check";

const inOrder = (a, b) => a.order - b.order;

export class AnswerQueue {
  /**
   * storage: like localStorage; owner: an opaque id of study and reviewer; send(body): sends answers or a check to the
   * server; now(): milliseconds that never go back; today(): milliseconds since 1970; onChange(): the listed answers
   * changed.
   */
  constructor({ storage, owner, send, now, today = Date.now, onChange = () => {}, resendAfter = RESEND_AFTER_MS }) {
    Object.assign(this, { storage, send, now, today, onChange, resendAfter });
    this.prefixes = { unsaved: `labeler-unsaved-${owner}-`, saved: `labeler-saved-${owner}-` };
    this.inFlight = []; // the ids of the answers that were sent last, or the id of a check
    this.sentAt = null;
    this.attempts = 0;
    this.wait = resendAfter;
    this.lastEvent = undefined; // the newest answer that the server has; undefined: not known
    this.isDoubted = false; // whether the server may have lost answers that it confirmed
    this.isHeld = false; // whether nothing can be labelled now
    this.isForgotten = false; // whether closing the window would lose answers
    this.unsaved = this.#read("unsaved");
    this.saved = this.#read("saved");
    this.saved.forEach((_, id) => this.unsaved.delete(id)); // in both if the browser ended while saving
  }

  /** The events to send, in the order of the key presses. */
  get events() {
    return this.#pending().map(({ event }) => event);
  }

  get length() {
    return this.#pending().length;
  }

  /** The answers that the server refused, and those that wait while nothing can be labelled: {event, order, reason}. */
  get listed() {
    return [...this.unsaved.values()].filter(({ reason }) => reason || this.isHeld).sort(inOrder);
  }

  /** Whether the first event was sent more than once, because the server did not reply. */
  get isWaitingLong() {
    return this.attempts > 1;
  }

  /** Whether the first event was sent so often that a new connection may help. */
  get isStuck() {
    return this.attempts > 8;
  }

  push(event) {
    const orders = [...this.unsaved.values(), ...this.saved.values()].map(({ order }) => order);
    this.#set(event.event_id, { event, order: Math.max(this.today(), ...orders.map((order) => order + 1)) });
    this.tick();
  }

  /** Send the unsaved answers, or a check that must come before them, unless they were sent a short time ago. */
  tick() {
    const due = this.#pending().filter(({ adoptAt }) => !adoptAt || this.now() >= adoptAt);
    const isOnItsWay = this.isDoubted || this.inFlight.some((id) => this.unsaved.has(id));
    if (isOnItsWay && this.sentAt !== null && this.now() - this.sentAt < this.wait) return;
    if (!due.length && !this.isDoubted) return;
    const events = this.isDoubted ? [] : batchOf(due.map(({ event }) => event));
    const ids = this.isDoubted ? [CHECK] : events.map(({ event_id: id }) => id);
    this.attempts = this.inFlight[0] === ids[0] ? this.attempts + 1 : 1;
    this.inFlight = ids;
    this.sentAt = this.now();
    this.send(this.isDoubted ? { check: [...this.saved.keys()] } : { answers: events, after: this.#newest });
  }

  /** Send again at once, because a connection may be there again. */
  retry() {
    this.sentAt = null;
    this.tick();
  }

  /**
   * Handle a reply of the server. Returns {outcome, event, message} for each answer that was in flight, with outcome
   * "saved", "refused" or "later".
   */
  receive({ answers = [], last_event: lastEvent, missing = null, closed = "" }) {
    if (lastEvent !== this.lastEvent) this.isDoubted = this.#isDoubtful(lastEvent);
    this.lastEvent = lastEvent;
    if (missing) this.#offerAgain(missing);
    const results = answers.map((answer) => this.#settle(answer)).filter(Boolean);
    if (answers.some(({ outcome }) => outcome === "later")) {
      this.wait = Math.min(this.attempts * this.resendAfter, MAX_WAIT_MS);
    } else if (results.length) this.#rest();
    if (this.isHeld && !closed) this.#rest();
    this.isHeld = Boolean(closed);
    this.tick();
    return results;
  }

  /** Delete an unsaved answer, because the reviewer decided to. */
  dismiss(eventId) {
    this.#remove("unsaved", eventId);
    this.onChange();
  }

  /** The last unsaved event for this item, or null. */
  lastOn(code) {
    return this.events.findLast((event) => event.code === code) ?? null;
  }

  /** Handle a change of the storage by another window of this browser. */
  onStorage(key, text) {
    const kind = Object.keys(this.prefixes).find((name) => key?.startsWith(this.prefixes[name]));
    if (!kind) return;
    const id = key.slice(this.prefixes[kind].length);
    const entry = stored({ getItem: () => text }, key, null);
    if (!isEntry(entry)) this[kind].delete(id);
    else this[kind].set(id, { ...entry, adoptAt: this.now() + ADOPT_AFTER_MS });
    this.onChange();
  }

  #pending() {
    return [...this.unsaved.values()].filter(({ reason }) => !reason).sort(inOrder);
  }

  #settle({ event_id: id, outcome, message = "" }) {
    const entry = this.unsaved.get(id);
    if (!entry || !this.inFlight.includes(id)) return null; // a reply to an answer that was sent twice
    const { event } = entry;
    if (outcome === "saved") this.#keep(id, entry);
    // while answers may be lost, a refusal can be a result of the loss: send the answer again
    else if (outcome === "later" || this.isDoubted) return { outcome: "later", event, message };
    else {
      this.#set(id, { ...entry, reason: message });
      this.onChange();
    }
    return { outcome, event, message };
  }

  #rest() {
    this.inFlight = [];
    this.sentAt = null;
    this.attempts = 0;
    this.wait = this.resendAfter;
  }

  /** Whether the server's newest answer is neither the answer saved last nor an unsaved answer. */
  #isDoubtful(lastEvent) {
    if (!this.#newest || lastEvent === undefined) return false;
    return this.#newest !== lastEvent && !this.unsaved.has(lastEvent);
  }

  /** The id of the answer that was saved last, or null. */
  get #newest() {
    return [...this.saved.values()].sort(inOrder).at(-1)?.event.event_id ?? null;
  }

  #offerAgain(missing) {
    this.isDoubted = false;
    if (this.inFlight[0] === CHECK) this.#rest();
    missing.filter((id) => this.saved.has(id)).forEach((id) => {
      this.#set(id, { ...this.saved.get(id), adoptAt: undefined });
      this.#remove("saved", id);
    });
  }

  #keep(id, { event, order }) {
    const entry = { event, order };
    this.saved.set(id, entry);
    store(this.storage, this.prefixes.saved + id, entry);
    this.#remove("unsaved", id);
    if (this.saved.size > N_SAVED) this.#remove("saved", [...this.saved.values()].sort(inOrder)[0].event.event_id);
  }

  #set(id, entry) {
    this.unsaved.set(id, entry);
    const isStored = () => store(this.storage, this.prefixes.unsaved + id, entry);
    this.isForgotten = !isStored();
    if (!this.isForgotten || this.storage.forgets) return;
    keysOf(this.storage, "labeler-saved-").forEach((key) => store(this.storage, key, null)); // free space
    this.saved.clear();
    this.isForgotten = !isStored();
  }

  #remove(kind, id) {
    this[kind].delete(id);
    store(this.storage, this.prefixes[kind] + id, null);
    if (this.unsaved.size === 0) this.isForgotten = false;
  }

  #read(kind) {
    const entries = keysOf(this.storage, this.prefixes[kind]).map((key) => stored(this.storage, key, null));
    const found = entries.filter(isEntry).sort(inOrder);
    return new Map(found.map((entry) => [entry.event.event_id, { ...entry, adoptAt: 0 }]));
  }
}

/** The answers that fit into one request, from the first one on. */
function batchOf(events) {
  let bytes = 0;
  const sizeOf = (event) => new TextEncoder().encode(JSON.stringify(event)).length + 1;
  const isFull = (event) => (bytes += sizeOf(event)) > MAX_BYTES;
  const end = events.slice(0, MAX_BATCH).findIndex((event, i) => isFull(event) && i > 0);
  return events.slice(0, end < 0 ? MAX_BATCH : end);
}

function isEntry(entry) {
  return typeof entry?.event?.event_id === "string" && Number.isFinite(entry.order);
}
