// Sends unsaved answers on every page, lists refused answers, and asks before the reviewer leaves the window.

import { Outbox } from "./outbox.js";
import { AnswerQueue } from "./queue.js";
import { memory, ofBrowser, ofWindow, OWNER } from "./storage.js";

/**
 * Close Streamlit's box "Connection error": it covers the item and takes the keys, and the status line says more.
 * Returns whether another dialog of Streamlit is open.
 */
export function closeConnectionBox() {
  const boxes = Array.from(document.querySelectorAll('[role="dialog"]'));
  const errors = boxes.filter((box) => box.textContent.includes("Connection error"));
  errors.forEach((box) => box.querySelector('button[aria-label="Close"]')?.click());
  return boxes.length > errors.length;
}

export class Delivery {
  /**
   * part: lists refused answers; data: the first data of the page; requests: `Requests` or `PracticeRound`;
   * onReply(reply, results): receives each reply, with the outcome of each answer (see `AnswerQueue.receive`).
   */
  constructor(part, data, requests, onReply = () => {}) {
    const isPractice = data.mode === "practice";
    Object.assign(this, { requests, onReply, mode: data.mode });
    this.window = isPractice ? memory() : ofWindow();
    this.owner = isPractice ? "practice" : data.reviewer;
    this.nAsked = 0; // the number of requests so far, and of the newest request whose reply arrived
    this.nReplied = 0;
    this.repliedAt = performance.now();
    this.queue = new AnswerQueue({
      storage: isPractice ? memory() : ofBrowser(),
      owner: this.owner,
      send: (body) => this.#ask(() => this.requests.answers(body)),
      now: () => performance.now(),
      onChange: () => this.outbox?.draw(this.closed),
    });
    this.outbox = new Outbox(part, this.queue);
    if (!isPractice) this.#listen();
    this.#receive(data);
  }

  #listen() {
    this.listening = new AbortController();
    const { signal } = this.listening;
    window.addEventListener("storage", (event) => this.queue.onStorage(event.key, event.newValue), { signal });
    window.addEventListener("beforeunload", (event) => this.#warn(event), { signal });
    window.addEventListener("online", () => this.queue.retry(), { signal });
    this.window.setItem(OWNER, this.owner); // the sign-out page counts unsaved answers
  }

  /** Do not ask before signing out: the sign-out page asks. */
  #warn(event) {
    if (this.queue.length && this.mode !== "leave") event.preventDefault();
  }

  /** Ask for the state, for example because nothing can be labelled now. */
  askState() {
    return this.#ask(() => this.requests.state());
  }

  async #ask(request) {
    this.nAsked += 1;
    const number = this.nAsked;
    const reply = await request();
    if (this.isOver) return;
    this.repliedAt = performance.now();
    const isNewest = number > this.nReplied;
    this.nReplied = Math.max(this.nReplied, number);
    const full = reply.failed ? this.#asLater(reply) : reply;
    // a reply that another one overtook says only what became of its answers
    const results = this.#receive(reply.failed || !isNewest ? { ...this.#before, answers: full.answers } : full);
    this.onReply(isNewest ? reply : { failed: true, message: "" }, results);
  }

  /** A failed request: its answers are sent again later. */
  #asLater({ message }) {
    const ids = this.queue.inFlight;
    return { answers: message ? ids.map((id) => ({ event_id: id, outcome: "later", message })) : [] };
  }

  get #before() {
    return { last_event: this.queue.lastEvent, closed: this.closed };
  }

  #receive(reply) {
    this.closed = reply.closed;
    const results = this.queue.receive(reply);
    this.outbox.draw(this.closed);
    return results;
  }

  end() {
    this.isOver = true;
    this.listening?.abort();
  }
}
