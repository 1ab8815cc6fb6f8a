// Sends the answers that the browser still keeps, on pages without an item.

import { Delivery, closeConnectionBox } from "./delivery.js";
import { Requests } from "./requests.js";
import { deliveryWords } from "./words.js";

const TICK_MS = 500;

/** Streamlit calls this at the first mount and again whenever the page runs. */
export default function sender(component) {
  const root = component.parentElement.querySelector(".sender");
  root.sender ??= new Sender(root, component.data);
  return () => {
    root.sender?.end();
    root.sender = undefined;
  };
}

class Sender {
  constructor(root, data) {
    this.status = root.querySelector(".status");
    this.delivery = new Delivery(root.querySelector(".outbox"), data, new Requests(data), () => this.say());
    this.timer = setInterval(() => this.onTick(), TICK_MS);
    this.say();
  }

  onTick() {
    closeConnectionBox();
    this.delivery.queue.tick();
    this.say();
  }

  say() {
    if (!this.delivery) return;
    const words = deliveryWords(this.delivery.queue);
    if (this.status.textContent !== words) this.status.textContent = words;
    window.__pending = this.delivery.queue.length; // for tests
  }

  end() {
    clearInterval(this.timer);
    this.delivery.end();
  }
}
