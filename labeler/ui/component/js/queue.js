// Answers on their way to the server: one at a time, again until acknowledged, kept across a reload.

import { store, stored } from "./storage.js";

export const RESEND_AFTER_MS = 3000;

export class EventQueue {
  /**
   * storage: getItem/setItem/removeItem, such as sessionStorage; key: one a reviewer;
   * send(event): hands one event to the server; now(): milliseconds.
   */
  constructor({ storage, key, send, now, resendAfter = RESEND_AFTER_MS }) {
    this.storage = storage;
    this.key = key;
    this.send = send;
    this.now = now;
    this.resendAfter = resendAfter;
    this.sentAt = null;
    this.attempts = 0;
    this.isForgotten = false; // whether a reload would lose them
    const events = stored(storage, key, []);
    this.events = Array.isArray(events) ? events.filter((event) => typeof event?.event_id === "string") : [];
  }

  get length() {
    return this.events.length;
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
    this.events.push(event);
    this.#store();
    this.tick();
  }

  /** Send the first event if it was never sent, or sent too long ago. */
  tick() {
    if (this.events.length === 0) return;
    if (this.sentAt !== null && this.now() - this.sentAt < this.resendAfter) return;
    this.sentAt = this.now();
    this.attempts += 1;
    this.send(this.events[0]);
  }

  /** The server has dealt with an event. Returns it, or null if it is not the one waited for. */
  acknowledge(eventId) {
    if (this.events.length === 0 || this.events[0].event_id !== eventId) return null;
    const done = this.events.shift();
    this.sentAt = null;
    this.attempts = 0;
    this.#store();
    this.tick();
    return done;
  }

  /** The last event on this item that the server has not acknowledged. */
  lastOn(code) {
    return this.events.findLast((event) => event.code === code) ?? null;
  }

  #store() {
    this.isForgotten = !store(this.storage, this.key, this.events.length ? this.events : null);
  }
}
