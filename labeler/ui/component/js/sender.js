// Sends the answers that the browser still keeps, on pages without an item.

import { Delivery } from "./delivery.js";
import { deliveryWords } from "./words.js";

const TICK_MS = 500;

/** Streamlit calls this at the first mount and again whenever the server sends new data. */
export default function sender(component) {
  const root = component.parentElement.querySelector(".sender");
  root.sender ??= new Sender(root, component);
  root.sender.update(component);
  return () => {
    root.sender?.end();
    root.sender = undefined;
  };
}

class Sender {
  constructor(root, component) {
    this.component = component;
    this.status = root.querySelector(".status");
    this.delivery = new Delivery(root.querySelector(".outbox"), component.data, (event) =>
      this.component.setTriggerValue("event", { ...event, have: [] }),
    );
    this.timer = setInterval(() => this.onTick(), TICK_MS);
  }

  update(component) {
    this.component = component;
    this.delivery.receive(component.data);
    this.say();
  }

  onTick() {
    this.delivery.queue.tick();
    this.say();
  }

  say() {
    const words = deliveryWords(this.delivery.queue);
    if (this.status.textContent !== words) this.status.textContent = words;
    window.__pending = this.delivery.queue.length; // for tests
  }

  end() {
    clearInterval(this.timer);
    this.delivery.end();
  }
}
