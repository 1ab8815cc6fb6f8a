// What every page does for answers that are not saved yet: sends them, lists those that were refused, and asks before
// the window is left.

import { Outbox } from "./outbox.js";
import { AnswerQueue } from "./queue.js";
import { adoptEarlier, memory, ofBrowser, ofWindow, OWNER } from "./storage.js";

export class Delivery {
  /** part: where refused answers are listed; data: what the server sent first; send(event): hands an event to it. */
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
    this.window.setItem(OWNER, this.owner); // the page for signing out counts what is not saved
  }

  /** On the way to signing out the next page asks. */
  #ask(event) {
    if (this.queue.length && this.mode !== "leave") event.preventDefault();
  }

  /** As `AnswerQueue.receive`. */
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
