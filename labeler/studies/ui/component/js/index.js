// The review component: shows an item, takes an answer by key or click, shows the next item at once,
// and keeps each answer until the server confirms it. The component's DOM node holds the state. A page run only mounts
// the component: answers and items travel by HTTP (requests.js), or stay here (practice.js).

import { Clock } from "./clock.js";
import { CommentDialog } from "./comment.js";
import { button } from "./decision.js";
import { Delivery, closeConnectionBox } from "./delivery.js";
import { SHIFT, isTyping, markingKey, pressedKey, pressesAgain, wasSeen } from "./guard.js";
import { Marking } from "./marking.js";
import { feedbackWords } from "./marks.js";
import { nRunsOf, unpackAll } from "./panels.js";
import { Picture } from "./picture.js";
import { PracticeRound } from "./practice.js";
import { Requests } from "./requests.js";
import { Drafts } from "./storage.js";
import { Strip } from "./strip.js";
import { Surroundings, followSystem } from "./surroundings.js";
import { emptyWords, itemWords, progressWords, questionWords, signWords, statusWords } from "./words.js";

const [NOT_SURE, WITHDRAWN] = ["not sure", "withdrawn"]; // answers that are not labels
const REMEMBERED = 5; // number of pictures to keep besides those of offered items, for an undo
const N_AT_ONCE = 3; // number of pictures in one request
const UNDER = { practice: 72 }; // pixels below the component by mode: in practice, a button to leave it
const [MIN_HEIGHT, MAX_HEIGHT] = [200, 1300];
const N_PATTERNS = 5; // of style.css
const TICK_MS = 500;
const FETCH_AGAIN_MS = 3000;
const AHEAD_EVERY_MS = 3000; // between requests for pictures of later items
const ASK_AGAIN_MS = 9000; // the box of coordinators says that people who wait see the open study within 10 s
const SIGNS = ["keydown", "pointermove", "pointerdown", "wheel", "scroll"];

/**
 * Streamlit calls this at the first mount and again whenever the page runs. Without Streamlit, any object with
 * `parentElement`, `data` and `setTriggerValue(name, value)` will do.
 */
export default function review(component) {
  const root = component.parentElement.querySelector(".review");
  if (root.review && root.review.data.round !== component.data.round) root.review.end(); // another practice round
  if (!root.review || root.review.isOver) root.review = new Review(root, component);
  else root.review.update(component);
  return () => {
    root.review?.end();
    root.review = undefined;
  };
}

class Review {
  constructor(root, component) {
    this.root = root;
    this.component = component;
    this.part = (name) => root.querySelector(`.${name}`);
    this.key = (name) => root.querySelector(`[data-key="${name}"]`);
    this.picture = new Picture(root, () => this.draw());
    this.marking = new Marking(root, this.picture, () => this.say());
    this.help = root.querySelector(".help");
    this.comment = new CommentDialog(
      root.querySelector(".comment"), (text) => this.keep({ comment: text }), () => this.sayDraft(),
    );
    this.isTouch = matchMedia("(pointer: coarse)").matches;
    this.current = null;
    this.paintedAt = null;
    this.nRuns = null; // of the newest item
    this.top = 0; // of the component in the window, if nothing is scrolled away
    this.refusal = "";
    this.hindrance = "";
    this.remembered = new Map();
    this.strip = new Strip(this.part("last"));
    this.clock = new Clock(() => performance.now());
    this.nTold = 0;
    this.fetchedAt = null; // when pictures were requested in vain
    this.aheadAt = 0; // when pictures of later items were requested
    this.isFetching = false;
    this.isSignedOut = false;
    this.isOver = false;
    const { data } = component;
    const isPractice = data.mode === "practice";
    this.requests = isPractice ? new PracticeRound(data) : new Requests(data);
    const first = isPractice ? { ...data, ...this.requests.reply } : data;
    this.data = { ...data };
    this.sayCategories();
    this.delivery = new Delivery(this.part("outbox"), first, this.requests, (...reply) => this.receive(...reply));
    this.queue = this.delivery.queue;
    this.drafts = new Drafts(this.delivery.window, this.delivery.owner);
    this.listen();
    if (component.data.mode === "label") {
      this.surroundings = new Surroundings(root, this.part("surroundings"), this.listening.signal);
    } else followSystem(root, this.listening.signal);
    this.root.dataset.mode = data.mode;
    this.root.classList.toggle("asking", data.protocol.asks_confidence);
    this.take(first);
  }

  /** Create the button of each category, and its row in the help; if the question did not change, keep them. */
  sayCategories() {
    const { categories, marking, not_sure: hasNotSure } = this.data.question;
    const wanted = JSON.stringify(this.data.question);
    if (this.asked === wanted) return;
    this.asked = wanted;
    this.answers = marking ? {} : Object.fromEntries(categories.map(({ key, name }) => [key, name]));
    if (hasNotSure) this.answers.n = NOT_SURE;
    this.digitsAnswer = categories.some(({ key }) => /[1-9]/u.test(key));
    this.sureness = [1, 2, 3].map((confidence) => `${this.digitsAnswer ? SHIFT : ""}${confidence}`);
    this.root.querySelectorAll("button[data-sure]").forEach((one) => {
      one.dataset.key = this.sureness[Number(one.dataset.sure) - 1];
      one.setAttribute("aria-keyshortcuts", one.dataset.key);
    });
    const save = marking ? [saveButton()] : [];
    this.part("categories").replaceChildren(...categories.map(categoryButton), ...save);
    this.root.classList.toggle("marks-points", Boolean(marking));
    this.root.classList.toggle("takes-ranges", Boolean(marking?.ranges));
    this.sayExtra(this.data.question.extra);
    this.part("meanings").replaceChildren(...categories.map(meaningRow));
    this.part("sees").textContent = this.data.sees;
    this.part("overlaid").textContent = this.data.overlay;
    this.root.querySelectorAll(".unsure").forEach((part) => (part.hidden = !hasNotSure));
    this.root.querySelectorAll(".keys [data-key]").forEach((one) => { // if there is little space, only the key is shown
      one.title = `${one.querySelector("span").textContent} (${one.dataset.key.toUpperCase()})`;
    });
  }

  /** Create the buttons of the extra answer. They have keys if neither categories nor the confidence use them. */
  sayExtra(extra) {
    const isSure = this.data.protocol.asks_confidence;
    const isShifted = this.digitsAnswer || isSure;
    const hasKeys = !(this.digitsAnswer && isSure);
    this.usesShift = this.digitsAnswer || (isSure && Boolean(extra));
    this.extras = new Map((extra?.answers ?? []).map((answer, i) => [
      `${hasKeys ? "" : "extra "}${isShifted ? SHIFT : ""}${i + 1}`, answer,
    ]));
    const buttons = Array.from(this.extras, ([key, answer]) => extraButton(key, answer, hasKeys));
    this.part("extra").replaceChildren(...buttons);
    this.part("extra").hidden = !extra;
    this.part("extra").setAttribute("aria-label", extra?.text ?? "");
    this.part("extra").dataset.text = extra?.text ?? "";
  }

  listen() {
    this.listening = new AbortController();
    const { signal } = this.listening;
    document.addEventListener("keydown", (event) => this.onKey(event), { signal });
    document.addEventListener("visibilitychange", () => this.onVisibility(), { signal });
    const passive = { signal, passive: true, capture: true };
    SIGNS.forEach((name) => document.addEventListener(name, () => this.clock.sign(), passive));
    this.root.addEventListener("click", (event) => this.onClick(event), { signal });
    this.root.addEventListener("keydown", (event) => pressesAgain(event) && event.preventDefault(), { signal });
    this.picture.listen(signal);
    this.marking.listen(signal);
    window.addEventListener("resize", () => this.draw(), { signal }); // zooming also fires this event
    this.resized = new ResizeObserver(() => this.draw());
    this.resized.observe(this.root);
    this.timer = setInterval(() => this.onTick(), TICK_MS);
  }

  end() {
    this.isOver = true;
    this.listening.abort();
    this.surroundings?.end();
    this.resized.disconnect();
    clearInterval(this.timer);
    this.delivery.end();
    if (window.__review?.owner === this) delete window.__review;
  }

  /** The page ran again: it may know more than this window, but replies of the server are newer. */
  update(component) {
    this.component = component;
    const { mode, question, protocol, note } = component.data;
    Object.assign(this.data, { question, protocol, note });
    this.sayCategories();
    if (mode === "revise") this.take(component.data);
    else if (mode === "label") this.delivery.askState();
  }

  /** Take a reply of the server, with the outcomes of the answers that it contains. */
  receive(reply, results) {
    results.forEach((result) => this.settle(result));
    if (reply.isSignedOut && !this.isSignedOut) this.tellPage({ state: "signed out" });
    this.isSignedOut = Boolean(reply.isSignedOut);
    if (reply.failed) return this.say();
    if (this.data.mode !== "revise") return this.take(reply);
    if (results.length) this.tellPage({ saved: results.at(-1).outcome === "saved" ? results.at(-1).event.code : null });
    return this.say();
  }

  /** Show a state of the study and the reviewer: of the page at first, then of replies. */
  take(state) {
    const before = this.standing;
    Object.assign(this.data, state);
    this.remember(this.data.offers);
    if (!this.isStillOurs()) this.show(this.upcoming()[0] ?? null);
    this.say();
    this.picture.prepareSoon(() => this.next(), this.data.protocol.shows_numbers);
    this.fetch();
    if (before !== null && before !== this.standing) this.tellPage(this.change);
  }

  /** What decides which page is shown; null before the first state. */
  get standing() {
    const { state, closed, end } = this.data;
    return state === undefined ? null : JSON.stringify([state, closed, end]);
  }

  /** The reason for a page run: a change of state, or a practice round that is over. */
  get change() {
    const { mode, round, state } = this.data;
    return mode === "practice" ? { round, answers: this.requests.given } : { state };
  }

  /** Ask for one page run. The number makes each request different from the previous one. */
  tellPage(change) {
    this.nTold += 1;
    this.component.setTriggerValue("changed", { ...change, number: this.nTold });
  }

  /** Get the pictures of the next `n` items that are not here yet, but few in one request. */
  async fetch(n = N_AT_ONCE) {
    const next = this.data.offers.filter(({ code }) => !this.queue.lastOn(code)).slice(0, n);
    const codes = next.map(({ code }) => code).filter((code) => !this.remembered.has(code)).slice(0, N_AT_ONCE);
    const isSoon = this.fetchedAt !== null && performance.now() - this.fetchedAt < FETCH_AGAIN_MS;
    if (!codes.length || this.isFetching || isSoon) return;
    this.isFetching = true;
    const items = await this.requests.items(codes);
    this.isFetching = false;
    if (this.isOver) return;
    const pictures = new Map((items ?? []).filter(hasPicture).map((item) => [item.code, item.panels]));
    this.fetchedAt = codes.every((code) => pictures.has(code)) ? null : performance.now();
    this.remember(this.data.offers.map((offer) => ({ ...offer, panels: pictures.get(offer.code) })));
    if (!this.current) this.show(this.upcoming()[0] ?? null);
    this.picture.prepareSoon(() => this.next(), this.data.protocol.shows_numbers);
    this.fetch(); // another item may be offered by now
  }

  /** Get pictures of later items while there is nothing else to do, so that a lost connection stops nobody. */
  fetchAhead() {
    const isIdle = this.paintedAt && !this.queue.length && !this.isFetching;
    if (!isIdle || performance.now() - this.aheadAt < AHEAD_EVERY_MS) return;
    this.aheadAt = performance.now();
    this.fetch(this.data.offers.length);
  }

  /** The picture of the item that comes next, if the current item is on the screen; otherwise undefined. */
  next() {
    const next = this.paintedAt && this.upcoming().find(({ code }) => code !== this.current?.code);
    return this.remembered.get(next?.code);
  }

  /** Handle the outcome of an answer. The flag, comment and confidence of a refused answer are kept. */
  settle({ outcome, event, message }) {
    this.refusal = outcome === "refused" ? message : "";
    this.hindrance = outcome === "later" ? message : "";
    if (outcome !== "refused" || event.answer === WITHDRAWN) return;
    this.drafts.set(event.code, saidOf(event));
  }

  /** The offered items that have no unsaved answer, in order, up to the first whose picture is not here yet. */
  upcoming() {
    if (this.data.closed) return [];
    const open = this.data.offers.filter(({ code }) => !this.queue.lastOn(code));
    const missing = open.findIndex(({ code }) => !this.remembered.has(code));
    return missing < 0 ? open : open.slice(0, missing);
  }

  /** Whether the current item may stay on the screen: it is offered, or its undo is not saved yet. */
  isStillOurs() {
    if (!this.current || this.data.closed) return false;
    if (this.queue.lastOn(this.current.code)?.answer === WITHDRAWN) return true;
    const offer = this.data.offers.find(({ code }) => code === this.current.code);
    if (offer) this.current.revision = offer.revision;
    return Boolean(offer);
  }

  /** Keep the pictures of offered items and of a few earlier items. */
  remember(offers) {
    const here = offers.filter((offer) => hasPicture(offer) || this.remembered.has(offer.code));
    const pictures = here.map(({ code, panels }) => [code, this.remembered.get(code) ?? unpackAll(panels)]);
    pictures.forEach(([code, panels]) => {
      this.remembered.delete(code); // move it to the end of the map, as the newest
      this.remembered.set(code, panels);
    });
    const most = this.data.offers.length + REMEMBERED;
    while (this.remembered.size > most) this.remembered.delete(this.remembered.keys().next().value);
  }

  show(offer) {
    this.comment.close();
    this.current = offer && {
      code: offer.code,
      revision: offer.revision,
      panels: this.remembered.get(offer.code),
      facts: offer.facts ?? [],
      said: this.drafts.get(offer.code) ?? saidOf(offer),
      chosen: null,
      before: offer.before ?? null, // the answer that was undone or is being revised
      explains: offer.explains ?? null, // in practice: answer -> explanation
      explanation: offer.explanation ?? "",
      right: offer.right ?? null,
      truth: offer.truth ?? null, // in practice with marks: the known marks
      explained: null,
    };
    this.part("explanation").hidden = true;
    this.paintedAt = null;
    if (this.root.getBoundingClientRect().top < this.top - 1) this.root.scrollIntoView(); // show the first runs
    if (!this.current) return this.draw();
    this.picture.show(this.current.panels, this.data.protocol.shows_numbers);
    this.marking.show(this.data.question.marking, this.current.panels, this.current.before);
    this.say();
    const shown = this.current;
    requestAnimationFrame(() => { // the browser draws nothing before; until then, Streamlit can send the answer
      if (this.current !== shown) return;
      this.draw();
      this.marking.marks?.see();
      this.paintedAt = performance.now();
      this.clock.start();
      this.picture.describe();
      this.publish();
    });
  }

  draw() {
    this.part("stage").hidden = !this.current;
    this.part("message").hidden = Boolean(this.current);
    this.part("keys").hidden = !this.current && this.data.mode === "practice"; // the round is over
    if (this.current) {
      this.picture.draw(Math.min(Math.max(this.room, MIN_HEIGHT), MAX_HEIGHT));
      this.marking.draw();
    }
    this.say();
  }

  /** The height for the runs, in pixels, so that the window shows them and the answers without scrolling. */
  get room() {
    const [root, canvas] = [this.root, this.picture.canvas].map((part) => part.getBoundingClientRect());
    this.top = Math.max(this.top, root.top);
    const isNarrow = this.part("keys").offsetHeight === 0; // then the views are below, out of sight
    const below = isNarrow ? this.part("answers").offsetHeight : root.bottom - canvas.bottom;
    return window.innerHeight - this.top - (canvas.top - root.top) - below - (UNDER[this.data.mode] ?? 24);
  }

  /** Update all texts and button states on the screen. */
  say() {
    const pending = this.queue.events.filter(({ answer }) => isLabel(answer)).length;
    this.nRuns = this.current ? nRunsOf(this.current.panels) || null : this.nRuns;
    this.part("question").textContent = questionWords(this.data.question.text, this.nRuns);
    this.part("progress").textContent = progressWords(this.data, pending);
    this.part("study").textContent = this.data.study ?? "";
    this.part("code").textContent = this.current ? itemWords(this.current) : "";
    this.part("words").textContent = emptyWords(this.data, this.queue.length, this.queue.isWaitingLong);
    this.part("onward").hidden = this.data.mode !== "label" || !this.data.done || this.queue.length > 0;
    this.part("note").textContent = this.data.note ?? "";
    this.part("note").hidden = !this.data.note;
    const isTrouble = Boolean(this.refusal || this.hindrance) || this.queue.isWaitingLong;
    this.write("status", statusWords(this));
    this.part("status").classList.toggle("trouble", isTrouble);
    this.sayButtons();
    this.publish();
  }

  /** Write a text only if it changed, because screen readers read out each change. */
  write(name, words) {
    if (this.part(name).textContent !== words) this.part(name).textContent = words;
  }

  sayButtons() {
    const { said, chosen, explained } = this.current ?? { said: {}, chosen: null, explained: null };
    this.picture.sayButtons(this.key);
    const isOver = !this.current || explained !== null;
    const answering = [...Object.keys(this.answers), ...this.sureness, ...this.extras.keys(), "f", "m"];
    answering.forEach((key) => (this.key(key).disabled = isOver));
    [..."ozl"].forEach((key) => (this.key(key).disabled = !this.current));
    this.#sayMarking(isOver);
    const canUndo = this.data.mode === "label" && Boolean(chosen || this.canUndoMark || this.lastAnswered());
    this.key("u").setAttribute("aria-disabled", String(!canUndo)); // a press gives the reason
    Object.entries(this.answers).forEach(([key, answer]) => {
      this.key(key).classList.toggle("before", this.current?.before === answer);
      if (isLabel(answer)) this.key(key).setAttribute("aria-pressed", String((chosen ?? explained) === answer));
    });
    const pressed = {
      f: Boolean(said.flag),
      m: Boolean(said.comment),
    };
    this.sureness.forEach((key, i) => (pressed[key] = said.confidence === i + 1));
    this.extras.forEach((answer, key) => (pressed[key] = said.extra === answer));
    Object.entries(pressed).forEach(([key, on]) => this.key(key).setAttribute("aria-pressed", String(on)));
  }

  /** Update the buttons that belong to marks. */
  #sayMarking(isOver) {
    const { marking } = this.data.question;
    if (!marking) return;
    const { marks } = this.marking;
    this.root.querySelectorAll(".marking button").forEach((one) => (one.disabled = isOver));
    this.key(" ").disabled = isOver;
    this.key(" ").setAttribute("aria-disabled", String(!isOver && Boolean(this.marking.problem)));
    const isKind = (key) => marks?.current?.kind === nameOf(marking, key);
    const isPressed = (key) => (key === marking.no_mark_key ? marks?.isNone : marks?.current && isKind(key));
    [marking.no_mark_key, ...marking.kinds.map(({ key }) => key)].forEach((key) => {
      this.key(key).disabled = isOver;
      this.key(key).setAttribute("aria-pressed", String(Boolean(isPressed(key))));
    });
  }

  get canUndoMark() {
    return Boolean(this.current && this.marking.isOn && this.marking.marks.done.length);
  }

  /** Expose the state of the screen and the queue to tests. */
  publish() {
    window.__review = {
      owner: this,
      code: this.current?.code ?? null,
      revision: this.current?.revision ?? null,
      said: { ...this.current?.said },
      chosen: this.current?.chosen ?? null,
      paintedAt: this.paintedAt,
      pending: this.queue.length,
      view: { ...this.picture.view },
      done: this.data?.done ?? null,
      marks: this.marking.isOn ? { ...this.marking.marks, answer: this.marking.answer } : null,
    };
  }

  onTick() {
    closeConnectionBox();
    this.queue.tick();
    this.fetch();
    this.fetchAhead();
    const isWaiting = !this.current && this.data.mode === "label" && !this.queue.length;
    if (isWaiting && performance.now() - this.delivery.repliedAt > ASK_AGAIN_MS) this.delivery.askState();
    if (this.current && this.picture.isStale) this.draw();
    this.say();
  }

  onVisibility() {
    if (document.visibilityState === "hidden") this.clock.hide();
    else this.clock.reveal();
  }

  onKey(event) {
    const dialogIsOpen = this.help.open || this.comment.isOpen || closeConnectionBox();
    const [target] = event.composedPath();
    const keyOf = this.isMarking ? markingKey : pressedKey;
    const key = keyOf(event, target, dialogIsOpen, this.usesShift);
    if (key !== null && this.act(key, event.timeStamp, event.repeat)) event.preventDefault();
  }

  onClick(event) {
    const pressed = event.target.closest?.("[data-key]");
    if (!pressed || isTyping(event.target)) return;
    this.act(pressed.dataset.key, event.timeStamp);
    const isAnswer = pressed.dataset.key in this.answers;
    if (event.detail > 0 || isAnswer) pressed.blur(); // so that the space bar does not press it again
  }

  /** Whether points of the current item can be marked now. */
  get isMarking() {
    return Boolean(this.current && this.current.explained === null && this.marking.isOn);
  }

  /** Perform the action of a key that was pressed at this time; return whether the key has one. */
  act(key, at, isHeld = false) {
    if (this.isMarking && !this.current.chosen) {
      if (key === " ") return this.save(at);
      if (this.marking.act(key, isHeld)) return true;
    }
    if (key in this.answers) this.answer(this.answers[key], at);
    else if (key === "Enter") return this.goOn();
    else if (key === "u") this.undo();
    else if (key === "?") this.help.showModal();
    else if (!this.current) return false;
    else if (key === "f") this.keep({ flag: !this.current.said.flag });
    else if (this.extras.has(key)) this.keep({ extra: this.extras.get(key) });
    else if (key === "m") this.comment.open(this.current.code, this.current.said.comment ?? "");
    else if (this.sureness.includes(key)) return this.beSure(this.sureness.indexOf(key) + 1, at);
    else if (key === "Escape") this.forget();
    else return this.look(key);
    return true;
  }

  /** Perform a view action. Screen readers cannot see which run is highlighted, so the status line says it. */
  look(key) {
    const isDone = this.picture.act(key);
    const { run } = this.picture.view;
    if (isDone && key.startsWith("Arrow") && run !== null) {
      this.strip.tell("unfinished", null, `Run ${run + 1} is highlighted.`);
      this.say();
    }
    return isDone;
  }

  /** Keep flag, comment and confidence of the current item until its answer is sent. */
  keep(said) {
    if (!this.current) return;
    Object.assign(this.current.said, said);
    this.drafts.set(this.current.code, this.current.said);
    this.say();
  }

  beSure(confidence, at) {
    if (!this.data.protocol.asks_confidence) return false;
    this.keep({ confidence });
    if (this.current.chosen) this.answer(this.current.chosen, at);
    return true;
  }

  /** The comment was closed without saving it. */
  sayDraft() {
    this.strip.tell("unfinished", null, "The comment is not saved. Open it again to continue with your draft.");
    this.say();
  }

  forget() {
    this.current.chosen = null;
    this.picture.highlight(null);
    this.say();
  }

  /** Save the marks of the current item, or say what is missing. */
  save(at) {
    const { problem } = this.marking;
    if (!problem) {
      this.answer(this.marking.answer, at);
      return true;
    }
    this.strip.tell("unfinished", null, problem);
    this.say();
    return true;
  }

  answer(answer, at) {
    if (!this.current || this.current.explained !== null) return;
    if (this.data.mode === "revise" && answer === NOT_SURE) return;
    if (!wasSeen(this.paintedAt, at)) { // a busy browser may handle the press later
      this.strip.tell("fast");
      this.say();
      return;
    }
    const { code, revision, said } = this.current;
    if (this.data.protocol.asks_confidence && !said.confidence && isLabel(answer)) {
      this.current.chosen = answer; // until 1, 2 or 3 is pressed
      this.say();
      return;
    }
    const { dwell_ms: dwell, pauses } = this.clock.read();
    if (this.current.explains && this.current.explained === null) {
      this.explain(answer);
      return;
    }
    this.drafts.drop(code);
    this.send({ code, revision, answer, dwell_ms: dwell, ...said }, pauses);
    this.strip.tell("answered", { code, answer, panels: this.current.panels });
    this.show(this.upcoming()[0] ?? null);
  }

  /** In practice: show the explanation until the reviewer continues. */
  explain(answer) {
    this.current.explained = answer;
    this.part("explanation").hidden = false;
    const { explains, explanation, truth } = this.current;
    const sign = signWords(this.current, answer);
    const told = truth ? `${feedbackWords(answer, truth)} ${explanation}` : explains[answer];
    this.part("told").textContent = sign + told;
    this.part("explanation").classList.toggle("right", sign.startsWith("✓"));
    this.part("explanation").classList.toggle("different", sign.startsWith("✗"));
    if (truth) this.marking.tell(truth);
    this.draw();
  }

  /** In practice, on Enter: go from the explanation to the next item. */
  goOn() {
    if (!this.current?.explained) return false;
    const { code, revision, explained: answer } = this.current;
    this.send({ code, revision, answer, dwell_ms: null }, []);
    this.show(this.upcoming()[0] ?? null);
    return true;
  }

  undo() {
    if (this.data.mode !== "label") return;
    if (this.current?.chosen) {
      this.forget();
      return;
    }
    const last = this.lastAnswered();
    if (!last) {
      this.strip.tell("nothing");
      this.say();
      return;
    }
    const before = this.queue.events.at(-1)?.answer ?? this.data.last.before;
    this.send({ code: last.code, revision: last.revision, answer: WITHDRAWN, dwell_ms: null }, []);
    const isHere = this.remembered.has(last.code);
    this.strip.tell("undone", { code: last.code, answer: before, panels: this.remembered.get(last.code) });
    this.show(isHere ? { ...last, before, revision: last.revision + 1 } : null); // otherwise the server sends it again
  }

  /** The answer that U undoes: the newest unsaved answer, or the last answer that the server has. */
  lastAnswered() {
    const newest = this.queue.events.at(-1);
    if (!newest) return this.data.last;
    return newest.answer === WITHDRAWN ? null : { ...newest, revision: newest.revision + 1 };
  }

  send(answer, pauses) {
    this.refusal = "";
    const { clientWidth: width } = this.root;
    const height = this.picture.canvas.clientHeight;
    const whole = this.marking.isOn ? { whole: this.marking.isWhole } : {};
    const view = { ...this.picture.view, ...whole, width, height, density: window.devicePixelRatio, pauses };
    this.queue.push({ event_id: newId(), view, ...answer });
  }
}

/** What is said of an item besides the answer. */
function saidOf({ flag = false, comment = null, confidence = null, extra }) {
  return extra === undefined ? { flag, comment, confidence } : { flag, comment, confidence, extra };
}

/** Whether an answer is one of the categories. */
function isLabel(answer) {
  return answer !== NOT_SURE && answer !== WITHDRAWN;
}

/** A button with the colour of its category and a pattern, so that categories differ without colour as well. */
function categoryButton({ key, label, colour }, number) {
  const made = button(key, label);
  made.classList.add("answer");
  if (colour) {
    made.style.setProperty("--colour", colour);
    made.dataset.pattern = String(number % N_PATTERNS);
  }
  made.setAttribute("aria-pressed", "false");
  return made;
}

/** The button that saves marks. */
function saveButton() {
  const made = button(" ", "Save");
  made.classList.add("answer");
  made.querySelector("kbd").textContent = "Space";
  made.setAttribute("aria-keyshortcuts", "Space");
  return made;
}

function nameOf({ kinds }, key) {
  return kinds.find((kind) => kind.key === key)?.name;
}

/** A button of the extra answer; without a key if other answers use the digits. */
function extraButton(key, answer, hasKey) {
  const made = button(key, answer);
  if (!hasKey || key === answer) made.querySelector("kbd").remove();
  if (!hasKey) made.removeAttribute("aria-keyshortcuts");
  made.setAttribute("aria-pressed", "false");
  return made;
}

/** The row of a category in the help. */
function meaningRow({ key, label, meaning }) {
  const [row, keys, words] = ["tr", "td", "td"].map((name) => document.createElement(name));
  const letter = document.createElement("kbd");
  letter.textContent = key.toUpperCase();
  keys.append(letter);
  words.textContent = `${label}: ${meaning}`;
  row.append(keys, words);
  return row;
}

/** Whether the panels of an offered item have arrived. */
function hasPicture({ panels }) {
  return Boolean(panels?.length);
}

/** A random id. crypto.randomUUID exists only on HTTPS and localhost; getRandomValues exists everywhere. */
function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
