// The read-only picture for other pages, with a name above it and keys for the actions of the page.

import { Decision, button } from "./decision.js";
import { isTyping, pressedKey, pressesAgain, wasSeen } from "./guard.js";
import { paintAbove } from "./marked.js";
import { unpackAll } from "./panels.js";
import { Picture } from "./picture.js";
import { followSystem } from "./surroundings.js";

const TICK_MS = 500;
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
    this.decision = new Decision(this.part("decision"), (key) => this.tellPage(key));
    this.item = null;
    this.paintedAt = null;
    this.isWaiting = false; // whether the page has not yet handled a press
    this.nTold = 0;
    this.listening = new AbortController();
    const { signal } = this.listening;
    followSystem(root, signal);
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
    this.decision.update(data);
    const sent = JSON.stringify([data.panels, data.marks]);
    if (this.item === data.item && this.sent === sent) return;
    [this.item, this.sent] = [data.item, sent];
    this.paintedAt = null;
    this.hasPicture = data.panels.length > 0;
    ["canvas.runs", ".legend", ".views"].forEach((name) => (this.root.querySelector(name).hidden = !this.hasPicture));
    if (this.hasPicture) this.picture.show(unpackAll(data.panels));
    this.draw();
    requestAnimationFrame(() => {
      this.paintedAt = performance.now();
      if (this.hasPicture) this.picture.describe();
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
    if (this.root.clientWidth === 0) return;
    if (this.hasPicture) {
      this.picture.draw(this.component.data.height);
      this.picture.sayButtons(this.key);
    }
    this.drawMarks();
    this.publish();
  }

  /** Draw marks above a picture of one series, with their notes. */
  drawMarks() {
    const { panels, marks } = this.component.data;
    const above = this.root.querySelector("canvas.above");
    above.hidden = !this.hasPicture || !marks.length;
    if (above.hidden) return;
    const drawn = { marks, cursor: null, begin: null, shown: [0, panels[0].n] };
    paintAbove(above, this.picture, drawn);
  }

  publish() {
    const { key: chosen, reason } = this.decision;
    const view = { ...this.picture.view };
    window.__viewer = { owner: this, item: this.item, paintedAt: this.paintedAt, view, chosen, reason };
  }

  onKey(event) {
    if (this !== [...viewers].at(-1)) return;
    const [target] = event.composedPath();
    const key = pressedKey(
      event, target, document.querySelector('[role="dialog"]') !== null, this.decision.digitsAnswer,
    );
    if (key === "Enter" && /^(A|BUTTON|SUMMARY)$/u.test(target.tagName)) return; // this presses the focused button
    if (key !== null && this.act(key)) event.preventDefault();
  }

  onClick(event) {
    const pressed = event.target.closest?.("[data-key]");
    if (!pressed || isTyping(event.target)) return;
    this.act(pressed.dataset.key);
    if (event.detail > 0) pressed.blur(); // so that the space bar does not press it again
  }

  act(key) {
    if (this.own.has(key) || this.decision.has(key)) return this.press(key);
    if (!this.hasPicture) return false;
    const isDone = key === "Escape" || this.picture.act(key);
    if (key === "Escape") this.picture.highlight(null);
    const { run } = this.picture.view;
    this.part("unseen").textContent = run === null ? "" : `Run ${run + 1} is highlighted.`; // for screen readers
    return isDone;
  }

  /** Handle a press, once per item and only after the item was visible. */
  press(key) {
    if (this.isWaiting || this.decision.isSaving || !wasSeen(this.paintedAt, performance.now())) return true;
    if (this.decision.has(key)) this.decision.act(key);
    else this.tellPage(key);
    this.publish();
    return true;
  }

  /** Ask for a page run. The number makes each request different from the previous one. */
  tellPage(key) {
    this.isWaiting = true;
    this.nTold += 1;
    this.component.setTriggerValue("pressed", { key, item: this.item, number: this.nTold });
  }
}
