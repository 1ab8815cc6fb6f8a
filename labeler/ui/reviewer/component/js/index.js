// The review component: shows an item, takes an answer by key or click, shows the next one at once,
// and keeps every answer until the server has it. State lives on the component's DOM node.

import { isTyping, pressedKey, wasSeen } from "./guard.js";
import { arrange, summary, unpack } from "./layout.js";
import { paint } from "./paint.js";
import { EventQueue } from "./queue.js";

const ANSWERS = { s: "similar", d: "dissimilar", n: "not sure" };
const AXES = ["core", "pooled", "full"];
const AXIS_WORDS = { core: "main range", pooled: "0.5 to 99.5 %", full: "full range" };
const REMEMBERED = 8; // items kept for an undo
const MIN_HEIGHT = 380;
const MAX_HEIGHT = 640;
const TICK_MS = 500;

/** Streamlit calls this at the first mount and again whenever the server sends new data. */
export default function review(component) {
  const root = component.parentElement.querySelector(".review");
  root.review ??= new Review(root, component.data);
  root.review.update(component);
  return () => {
    root.review?.end();
    root.review = undefined;
  };
}

class Review {
  constructor(root, data) {
    this.root = root;
    this.part = (name) => root.querySelector(`.${name}`);
    this.canvas = root.querySelector("canvas");
    this.help = root.querySelector("dialog");
    this.current = null;
    this.paintedAt = null;
    this.refusal = "";
    this.remembered = new Map();
    this.queue = new EventQueue({
      storage: sessionStorage,
      key: `labeler-answers-${data.reviewer}`,
      send: (event) => this.component.setTriggerValue("event", event),
      now: () => performance.now(),
    });
    this.listening = new AbortController();
    const { signal } = this.listening;
    document.addEventListener("keydown", (event) => this.onKey(event), { signal });
    root.addEventListener("click", (event) => this.onClick(event), { signal });
    this.timer = setInterval(() => this.onTick(), TICK_MS);
    this.resized = new ResizeObserver(() => this.draw());
    this.resized.observe(root);
  }

  end() {
    this.listening.abort();
    this.resized.disconnect();
    clearInterval(this.timer);
    if (window.__review?.owner === this) delete window.__review;
  }

  update(component) {
    this.component = component;
    this.data = component.data;
    const { ack } = this.data;
    if (ack) {
      const done = this.queue.acknowledge(ack.event_id);
      if (done) this.refusal = ack.saved ? "" : ack.message;
    }
    this.root.classList.toggle("revising", this.data.mode === "revise");
    this.part("question").textContent = this.data.question;
    if (!this.isStillOurs()) this.show(this.upcoming()[0] ?? null);
    this.queue.tick();
    this.say();
  }

  /** Offers that no answer is on its way for. */
  upcoming() {
    return this.data.offers.filter((offer) => !this.queue.lastOn(offer.code));
  }

  /** Whether the item on the screen may stay: it is on offer, or an undo of it is on its way. */
  isStillOurs() {
    if (!this.current) return false;
    if (this.queue.lastOn(this.current.code)?.answer === "withdrawn") return true;
    const offer = this.data.offers.find(({ code }) => code === this.current.code);
    if (offer) this.current.revision = offer.revision;
    return Boolean(offer);
  }

  show(offer) {
    this.current = offer && { code: offer.code, revision: offer.revision, picture: this.unpacked(offer) };
    this.view = { axis: offer?.axis_rule ?? "core", log: false, overlay: false };
    this.paintedAt = null;
    this.draw();
    if (!this.current) return;
    const shown = this.current;
    requestAnimationFrame(() => {
      if (this.current !== shown) return;
      this.paintedAt = performance.now();
      this.publish();
    });
  }

  unpacked(offer) {
    if (!this.remembered.has(offer.code)) this.remembered.set(offer.code, unpack(offer.picture));
    if (this.remembered.size > REMEMBERED) this.remembered.delete(this.remembered.keys().next().value);
    return this.remembered.get(offer.code);
  }

  draw() {
    this.part("stage").hidden = !this.current;
    this.part("message").hidden = Boolean(this.current);
    if (this.current) {
      const { picture } = this.current;
      const height = Math.min(Math.max(window.innerHeight - 230, MIN_HEIGHT), MAX_HEIGHT);
      const geometry = arrange(this.root.clientWidth, height, picture.runs.length, this.view.overlay);
      const density = window.devicePixelRatio || 1;
      this.canvas.width = Math.round(geometry.width * density);
      this.canvas.height = Math.round(geometry.height * density);
      this.canvas.style.height = `${geometry.height}px`;
      const context = this.canvas.getContext("2d");
      context.scale(density, density);
      paint(context, picture, geometry, this.view);
      this.canvas.setAttribute("aria-label", summary(picture));
    }
    this.say();
  }

  /** Everything on the screen that is words. */
  say() {
    const { done, total, not_sure: notSure, mode, closed } = this.data;
    const pending = this.queue.events.filter(({ answer }) => answer === "similar" || answer === "dissimilar").length;
    const unsure = notSure ? `, ${notSure} not sure` : "";
    this.part("progress").textContent = mode === "revise" ? "" : `${Math.min(done + pending, total)} of ${total} done${unsure}`;
    this.part("code").textContent = this.current ? `Item ${this.current.code}` : "";
    this.part("message").textContent = closed || this.emptyWords();
    this.part("status").textContent = this.statusWords();
    this.part("status").classList.toggle("trouble", Boolean(this.refusal) || this.queue.isWaitingLong);
    if (this.view) {
      this.root.querySelector('[data-key="z"] span').textContent = `Axis: ${AXIS_WORDS[this.view.axis]}`;
      for (const [key, on] of [["o", this.view.overlay], ["l", this.view.log]]) {
        this.root.querySelector(`[data-key="${key}"]`).setAttribute("aria-pressed", String(on));
      }
    }
    this.publish();
  }

  emptyWords() {
    if (this.queue.length) return "Saving your answers …";
    const { done, total, not_sure: notSure } = this.data;
    if (!total) return "Nothing is assigned to you yet.";
    if (done < total && notSure) return `You have been through everything; ${notSure} stay “not sure”. You can change them under My labels.`;
    return "You have labelled everything assigned to you. Thank you!";
  }

  statusWords() {
    if (this.refusal) return this.refusal;
    if (this.queue.isWaitingLong) return `Not saved yet: ${this.queue.length}. Trying again …`;
    if (this.queue.length) return "Saving …";
    return this.data.done || this.data.ack ? "Saved" : "";
  }

  /** For tests: what is on the screen, since when, and what is on its way. */
  publish() {
    window.__review = {
      owner: this,
      code: this.current?.code ?? null,
      revision: this.current?.revision ?? null,
      paintedAt: this.paintedAt,
      pending: this.queue.length,
      view: { ...this.view },
      done: this.data?.done ?? null,
    };
  }

  onTick() {
    this.queue.tick();
    if (this.queue.length) this.say();
  }

  onKey(event) {
    const dialogIsOpen = this.help.open || document.querySelector('[role="dialog"]') !== null;
    const key = pressedKey(event, event.composedPath()[0], dialogIsOpen);
    if (key !== null && this.act(key)) event.preventDefault();
  }

  onClick(event) {
    const button = event.target.closest?.("[data-key]");
    if (!button || isTyping(event.target)) return;
    this.act(button.dataset.key);
    button.blur(); // so that the space bar does not press it again on the next item
  }

  /** Do what a key stands for; whether it stands for anything. */
  act(key) {
    if (key in ANSWERS) this.answer(ANSWERS[key]);
    else if (key === "u") this.undo();
    else if (key === "?") this.help.showModal();
    else if (this.current && "zlo".includes(key)) this.look(key);
    else return false;
    return true;
  }

  answer(answer) {
    if (!this.current || !wasSeen(this.paintedAt, performance.now())) return;
    if (this.data.mode === "revise" && answer === "not sure") return;
    const { code, revision } = this.current;
    const dwell = Math.round(performance.now() - this.paintedAt);
    this.send({ code, revision, answer, dwell_ms: dwell });
    this.show(this.upcoming()[0] ?? null);
  }

  undo() {
    if (this.data.mode === "revise") return;
    const last = this.lastAnswered();
    if (!last) return;
    const picture = this.remembered.get(last.code);
    this.send({ code: last.code, revision: last.revision, answer: "withdrawn", dwell_ms: null });
    if (!picture) {
      this.show(null); // the server brings it back
      return;
    }
    this.show({ code: last.code, revision: last.revision + 1, axis_rule: this.data.axis_rule });
  }

  /** The answer that an undo takes back: the newest on its way, else the one the server names. */
  lastAnswered() {
    const newest = this.queue.events.at(-1);
    if (!newest) return this.data.last;
    return newest.answer === "withdrawn" ? null : { code: newest.code, revision: newest.revision + 1 };
  }

  send(answer) {
    this.refusal = "";
    const view = { ...this.view, width: this.root.clientWidth, height: this.canvas.clientHeight };
    this.queue.push({ event_id: newId(), view, ...answer });
  }

  look(key) {
    if (key === "z") this.view.axis = AXES[(AXES.indexOf(this.view.axis) + 1) % AXES.length];
    if (key === "l") this.view.log = !this.view.log;
    if (key === "o") this.view.overlay = !this.view.overlay;
    this.draw();
  }
}

/** crypto.randomUUID exists on HTTPS and localhost only; getRandomValues exists everywhere. */
function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
