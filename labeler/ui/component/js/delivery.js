// Sends unsaved answers on every page, lists refused answers, and asks before the reviewer leaves the window.

import { Outbox } from "./outbox.js";
import { AnswerQueue } from "./queue.js";
import { adoptEarlier, memory, ofBrowser, ofWindow, OWNER } from "./storage.js";

export class Delivery {
  /** part: lists refused answers; data: the first data from the server; send(event): sends an event to the server. */
  constructor(part, data, send) {
    const isPractice = data.mode === "practice";
    this.window = isPractice ? memory() : ofWindow();
    this.owner = isPractice ? "practice" : data.reviewer;
    this.queue = new AnswerQueue({
      storage: isPractice ? memory() : ofBrowser(),
      owner: this.owner,
      send,
      now: () => performance.now(),
      onChange: () => this.outbox?.draw(this.closed),
    });
    this.outbox = new Outbox(part, this.queue);
    this.mode = data.mode;
    if (!isPractice) this.#listen();
  }

  #listen() {
    this.listening = new AbortController();
    const { signal } = this.listening;
    window.addEventListener("storage", (event) => this.queue.onStorage(event.key, event.newValue), { signal });
    window.addEventListener("beforeunload", (event) => this.#ask(event), { signal });
    this.window.setItem(OWNER, this.owner); // the sign-out page counts unsaved answers
  }

  /** Do not ask before signing out: the sign-out page asks. */
  #ask(event) {
    if (this.queue.length && this.mode !== "leave") event.preventDefault();
  }

  /** See `AnswerQueue.receive`. */
  receive(data) {
    this.closed = data.closed;
    const outcome = this.queue.receive(data);
    if (this.listening) adoptEarlier(this.window).forEach((event) => this.queue.push(event));
    this.outbox.draw(this.closed);
    return outcome;
  }

  end() {
    this.listening?.abort();
  }
}
