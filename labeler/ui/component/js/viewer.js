// The read-only picture for other pages, with a name above it and keys for the actions of the page.

import { isTyping, pressedKey, pressesAgain, wasSeen } from "./guard.js";
import { unpack } from "./layout.js";
import { Picture } from "./picture.js";
import { Requests } from "./requests.js";

const TICK_MS = 500;
const NOT_SAVED = "The server did not reply, so this decision may not be saved. Check it, or press the key again.";
const viewers = new Set(); // the viewers of this page; the one that was used last is at the end

/** Streamlit calls this at the first mount and again whenever the server sends new data. */
export default function viewer(component) {
  const root = component.parentElement.querySelector(".viewer");
  root.viewer ??= new Viewer(root, component);
  root.viewer.update(component);
  return () => {
    root.viewer?.end();
    root.viewer = undefined;
  };
}

class Viewer {
  constructor(root) {
    this.root = root;
    this.part = (name) => root.querySelector(`.${name}`);
    this.key = (name) => root.querySelector(`[data-key="${name}"]`);
    this.picture = new Picture(root, () => this.draw());
    this.item = null;
    this.paintedAt = null;
    this.isWaiting = false; // whether the page has not yet handled a press
    this.nTold = 0;
    this.listening = new AbortController();
    const { signal } = this.listening;
    document.addEventListener("keydown", (event) => this.onKey(event), { signal });
    root.addEventListener("click", (event) => this.onClick(event), { signal });
    root.addEventListener("keydown", (event) => pressesAgain(event) && event.preventDefault(), { signal });
    ["pointerenter", "focusin", "pointerdown"].forEach((name) => {
      root.addEventListener(name, () => this.lookAt(), { signal });
    });
    this.picture.listen(signal);
    window.addEventListener("resize", () => this.draw(), { signal });
    this.resized = new ResizeObserver(() => this.draw());
    this.resized.observe(root);
    this.timer = setInterval(() => this.picture.isStale && this.draw(), TICK_MS);
    viewers.add(this);
  }

  end() {
    this.listening.abort();
    this.resized.disconnect();
    clearInterval(this.timer);
    viewers.delete(this);
    if (window.__viewer?.owner === this) delete window.__viewer;
  }

  /** Send the keys to this picture, on a page with several pictures. */
  lookAt() {
    viewers.delete(this);
    viewers.add(this);
  }

  update(component) {
    this.component = component;
    const { data } = component;
    this.part("name").textContent = data.title;
    this.part("caption").textContent = data.caption;
    this.root.setAttribute("aria-label", data.title || `The runs of ${data.item || "one benchmark"}`);
    this.sayKeys(data.keys);
    const of = data.item && ` of ${data.item}`; // so that each button of the page has a unique name
    this.root.querySelectorAll(".of").forEach((part) => (part.textContent = of));
    this.isWaiting = false;
    if (this.item === data.item && this.sent === data.picture.runs[0].quantiles) return;
    [this.item, this.sent] = [data.item, data.picture.runs[0].quantiles];
    this.paintedAt = null;
    this.picture.show(unpack(data.picture), data.shows_numbers);
    this.draw();
    requestAnimationFrame(() => {
      this.paintedAt = performance.now();
      this.picture.describe();
      this.publish();
    });
  }

  /** Create a button for each key of the page; if the keys did not change, keep the buttons and their focus. */
  sayKeys(keys) {
    const wanted = JSON.stringify(keys);
    if (this.keys === wanted) return;
    this.keys = wanted;
    this.own = new Map(keys);
    this.part("answers").replaceChildren(...keys.map(([key, words]) => button(key, words)));
  }

  draw() {
    if (!this.picture.picture || this.root.clientWidth === 0) return;
    const { height } = this.component.data;
    this.picture.draw(height);
    this.picture.sayButtons(this.key);
    this.publish();
  }

  publish() {
    window.__viewer = { owner: this, item: this.item, paintedAt: this.paintedAt, view: { ...this.picture.view } };
  }

  onKey(event) {
    if (this !== [...viewers].at(-1)) return;
    const key = pressedKey(event, event.composedPath()[0], document.querySelector('[role="dialog"]') !== null);
    if (key !== null && this.act(key)) event.preventDefault();
  }

  onClick(event) {
    const pressed = event.target.closest?.("[data-key]");
    if (!pressed || isTyping(event.target)) return;
    this.act(pressed.dataset.key);
    if (event.detail > 0) pressed.blur(); // so that the space bar does not press it again
  }

  act(key) {
    if (this.own.has(key)) return this.press(key);
    if (key !== "Escape") return this.picture.act(key);
    this.picture.highlight(null);
    return true;
  }

  /** Send a press to the page, once per item and only after the item was visible. */
  press(key) {
    if (this.isWaiting || !wasSeen(this.paintedAt, performance.now())) return true;
    this.isWaiting = true;
    const category = this.component.data.decides[key];
    if (category) this.decide(key, category);
    else this.tellPage(key);
    return true;
  }

  /** Ask for a page run. The number makes each request different from the previous one. */
  tellPage(key, reply = null) {
    this.nTold += 1;
    this.component.setTriggerValue("pressed", { key, item: this.item, number: this.nTold, ...reply });
  }

  /** Save the category for this item; only then ask for a page run, which cannot lose the decision. */
  async decide(key, category) {
    const requests = new Requests(this.component.data);
    const reply = await requests.decision({ item: this.item, category });
    this.tellPage(key, { message: reply.failed ? reply.message || NOT_SAVED : "", saved: !reply.failed });
  }
}

function button(key, words) {
  const made = document.createElement("button");
  made.type = "button";
  made.dataset.key = key;
  made.setAttribute("aria-keyshortcuts", key.toUpperCase());
  const [letter, name] = [document.createElement("kbd"), document.createElement("span")];
  letter.setAttribute("aria-hidden", "true");
  letter.textContent = key.toUpperCase();
  name.textContent = words;
  made.append(letter, name);
  return made;
}
