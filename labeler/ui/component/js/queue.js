// Answers from the key press until the server has them, and the last ones for a while after that: a study may go back
// to an older backup. Each has a key of its own, so that the windows of one browser do not overwrite each other.

import { keysOf, store, stored } from "./storage.js";

export const RESEND_AFTER_MS = 3000;
export const MAX_WAIT_MS = 15000; // between two attempts while the server asks to wait
export const ADOPT_AFTER_MS = 10000; // so long the window in which it was pressed has to save an answer
export const N_SAVED = 200; // answers that are kept after they were saved

const inOrder = (a, b) => a.order - b.order;

export class AnswerQueue {
  /**
   * storage: as localStorage; owner: opaque, one a study and reviewer; send(event): hands one event to the server;
   * now(): milliseconds that never step back; today(): milliseconds since 1970; onChange(): what is listed changed.
   */
  constructor({ storage, owner, send, now, today = Date.now, onChange = () => {}, resendAfter = RESEND_AFTER_MS }) {
    Object.assign(this, { storage, send, now, today, onChange, resendAfter });
    this.prefixes = { unsaved: `labeler-unsaved-${owner}-`, saved: `labeler-saved-${owner}-` };
    this.inFlight = null; // the id of the event that was sent last, or "check"
    this.sentAt = null;
    this.attempts = 0;
    this.wait = resendAfter;
    this.lastEvent = undefined; // the newest answer that the server has; undefined: it did not say
    this.isDoubted = false; // whether the server may lack answers that it said it saved
    this.isHeld = false; // whether nothing can be labelled now
    this.isForgotten = false; // whether closing the window would lose answers
    this.unsaved = this.#read("unsaved");
    this.saved = this.#read("saved");
    this.saved.forEach((_, id) => this.unsaved.delete(id)); // the browser ended between the two
  }

  /** The events to send, in the order pressed. */
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

  /** Whether the first event was sent more than once: the server has not answered for a while. */
  get isWaitingLong() {
    return this.attempts > 1;
  }

  /** Whether the first event was sent so often that a new connection would do better. */
  get isStuck() {
    return this.attempts > 8;
  }

  push(event) {
    const orders = [...this.unsaved.values(), ...this.saved.values()].map(({ order }) => order);
    this.#set(event.event_id, { event, order: Math.max(this.today(), ...orders.map((order) => order + 1)) });
    this.tick();
  }

  /** Send the first event, or what has to be asked before, if it was never sent, or sent too long ago. */
  tick() {
    const first = this.#pending().find(({ adoptAt }) => !adoptAt || this.now() >= adoptAt);
    const isOnItsWay = this.isDoubted || this.unsaved.has(this.inFlight);
    if (isOnItsWay && this.sentAt !== null && this.now() - this.sentAt < this.wait) return;
    if (!first && !this.isDoubted) return;
    const id = this.isDoubted ? "check" : first.event.event_id;
    this.attempts = this.inFlight === id ? this.attempts + 1 : 1;
    this.inFlight = id;
    this.sentAt = this.now();
    this.send(this.isDoubted ? { check: [...this.saved.keys()] } : first.event);
  }

  /**
   * What the server says. Returns {outcome, event}: "saved", "refused" or "again" of the event that was waited for;
   * null if it says nothing about that.
   */
  receive({ ack = null, last_event: lastEvent, missing = null, closed = "" }) {
    if (lastEvent !== this.lastEvent) this.isDoubted = this.#isDoubtful(lastEvent);
    this.lastEvent = lastEvent;
    if (missing) this.#offerAgain(missing);
    const outcome = ack && this.#settle(ack);
    if (this.isHeld && !closed) this.#rest();
    this.isHeld = Boolean(closed);
    this.tick();
    return outcome;
  }

  /** A person decided that an answer which was not saved is not to be sent any more. */
  dismiss(eventId) {
    this.#remove("unsaved", eventId);
    this.onChange();
  }

  /** The last event on this item that the server has not dealt with. */
  lastOn(code) {
    return this.events.findLast((event) => event.code === code) ?? null;
  }

  /** Another window of this browser wrote or removed something. */
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

  #settle(ack) {
    const entry = this.unsaved.get(ack.event_id);
    if (!entry || ack.event_id !== this.inFlight) return null; // an answer to what was sent twice
    const [outcome, { event }] = [this.#outcome(ack), entry];
    if (outcome === "again") {
      if (ack.again) this.wait = Math.min(this.attempts * this.resendAfter, MAX_WAIT_MS);
      else this.#rest();
      return { outcome, event };
    }
    this.#rest();
    if (outcome === "saved") this.#keep(ack.event_id, entry);
    else this.#set(ack.event_id, { ...entry, reason: ack.message });
    if (outcome === "refused") this.onChange();
    return { outcome, event };
  }

  /** An item may not be on offer only because the study lacks earlier answers: those come first, and it once more. */
  #outcome(ack) {
    if (ack.saved) return "saved";
    return ack.again || this.isDoubted ? "again" : "refused";
  }

  #rest() {
    this.inFlight = null;
    this.sentAt = null;
    this.attempts = 0;
    this.wait = this.resendAfter;
  }

  /** Whether the newest answer that the server has is neither the one saved last nor one that is on its way. */
  #isDoubtful(lastEvent) {
    const newest = [...this.saved.values()].sort(inOrder).at(-1);
    if (!newest || lastEvent === undefined) return false;
    return newest.event.event_id !== lastEvent && !this.unsaved.has(lastEvent);
  }

  #offerAgain(missing) {
    this.isDoubted = false;
    if (this.inFlight === "check") this.#rest();
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
    keysOf(this.storage, "labeler-saved-").forEach((key) => store(this.storage, key, null)); // it is full: make room
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

function isEntry(entry) {
  return typeof entry?.event?.event_id === "string" && Number.isFinite(entry.order);
}
