// Marking points of a series: keys, mouse and touch, the marks on the picture, and what is around the cursor.

import { button } from "./decision.js";
import { unitFor } from "./layout.js";
import { Marks, answerWords, markWords } from "./marks.js";
import { layer, paintAbove, paintLoupe, paintSelection, placeAt, seriesOf, valueAt } from "./marked.js";

const MOVED = 6; // pixels from which a press of the mouse is a drag
const DRAWN = 12; // pixels from which a drag zooms in this direction
const SPARSE = 12; // pixels per point; if points are closer, the points around the cursor are also drawn large
const LOUPE_HEIGHT = 84;
const BESIDE = 24; // pixels to the right of these points, for the last number
const ZOOM = 2;
const TOOLS = [ // key, its name, words, and help
  ["ArrowLeft", "←", "", "One point to the left"], ["ArrowRight", "→", "", "One point to the right"],
  ["Enter", "Enter", "Mark", "Mark the point at the cursor"],
  ["Delete", "Del", "Remove", "Remove the mark at the cursor"],
  ["r", "R", "Range", "Begin or end a range at the cursor"],
  ["[", "[", "", "Go to the previous mark"], ["]", "]", "", "Go to the next mark"],
  ["+", "+", "", "Zoom in at the cursor"], ["-", "−", "", "Zoom out"], ["0", "0", "All", "Show the whole series"],
];
const PROBLEMS = {
  whole: "You have not seen the whole series yet. Press 0 to see it.",
  range: "The range has no end yet. Press R at its end, or Delete to remove it.",
};

export class Marking {
  /** root: the component; picture: a `Picture` of one panel of points; onChange(): called after each change. */
  constructor(root, picture, onChange) {
    Object.assign(this, { root, picture, onChange });
    this.part = (name) => root.querySelector(`.marking .${name}`);
    this.canvas = picture.canvas;
    this.above = root.querySelector("canvas.above");
    this.marks = null;
    this.drag = null; // the press of the mouse: {from, to}, each [x, y]
    this.part("tools").replaceChildren(...TOOLS.map(toolButton));
  }

  listen(signal) {
    const on = (name, handle) => this.canvas.addEventListener(name, (event) => this.marks && handle(event), { signal });
    on("pointerdown", (event) => this.#press(event));
    on("pointermove", (event) => this.#move(event));
    on("pointerup", (event) => this.#release(event));
    on("pointercancel", () => this.#drop());
    on("dblclick", () => this.act("Enter"));
  }

  /** Begin with an item, and the reviewer's earlier answer; `question` is null if nothing is to be marked. */
  show(question, panels, answer) {
    const isOn = Boolean(question && panels?.length);
    this.question = question;
    this.panel = isOn ? panels[0] : null;
    this.marks = isOn ? new Marks(question, panels[0].n, answer) : null;
    this.truth = null;
    this.root.querySelector(".marking").hidden = this.above.hidden = !isOn;
    this.canvas.classList.toggle("takes-marks", isOn);
    this.drag = null;
    if (!isOn) return;
    this.series = seriesOf(this.panel);
    this.part("tools").querySelector('[data-key="r"]').hidden = !question.ranges;
    const { n } = this.panel;
    const role = { role: "slider", tabindex: "0", "aria-valuemin": this.marks.lowest, "aria-valuemax": n - 1 };
    Object.entries(role).forEach(([name, value]) => this.canvas.setAttribute(name, String(value)));
  }

  get isOn() {
    return this.marks !== null;
  }

  /** Whether the reviewer has seen the whole series. */
  get isWhole() {
    return this.marks.problem !== "whole";
  }

  /** Show the known marks of a practice item beside those of the reviewer. */
  tell(truth) {
    this.truth = truth;
    this.draw();
  }

  get answer() {
    return this.marks.answer;
  }

  /** What is missing before the answer can be saved, as a sentence; "" if nothing is missing. */
  get problem() {
    const { kinds, no_mark: none, no_mark_key: key } = this.question;
    const sentences = {
      ...PROBLEMS,
      none: `Nothing is marked yet. Press ${key.toUpperCase()} for “${none}”, or Enter to mark a point.`,
      kind: `A mark has no kind yet. Go to it, and press ${kinds.map((kind) => kind.key.toUpperCase()).join(" or ")}.`,
    };
    return sentences[this.marks.problem] ?? "";
  }

  /** Perform the action of a key; returns whether the key has one. */
  act(key, isHeld = false) {
    const { marks } = this;
    const kind = this.question.kinds.find((one) => one.key === key);
    if (key === "z" || key === "l") { // another axis
      marks.span = null;
      this.#changed();
      return false;
    }
    if (kind) marks.mark(kind.name);
    else if (key === this.question.no_mark_key) marks.chooseNone();
    else if (key === "u") return marks.undo() && this.#changed();
    else if (key === "Escape" && !marks.isZoomed && marks.begin === null) return false;
    else if (key === "Escape" && marks.begin !== null) marks.begin = null;
    else {
      const action = this.#actions(isHeld)[key];
      if (!action) return false;
      action();
    }
    return this.#changed();
  }

  #actions(isHeld) {
    const { marks } = this;
    const showAll = () => marks.showAll();
    const zoom = (factor) => () => marks.zoom(factor);
    return {
      ArrowLeft: () => marks.step(-1, isHeld), ArrowRight: () => marks.step(1, isHeld),
      Enter: () => marks.mark(), Delete: () => marks.remove(),
      "[": () => marks.go(-1), "]": () => marks.go(1), ...(this.question.ranges && { r: () => marks.range() }),
      "+": zoom(ZOOM), "-": zoom(1 / ZOOM), 0: showAll, Escape: showAll,
      ArrowUp: () => this.#stretch(ZOOM), ArrowDown: () => this.#stretch(1 / ZOOM),
    };
  }

  /** Zoom in (a factor above 1) or out in y, around the value at the cursor or the middle of the axis. */
  #stretch(factor) {
    const [low, high] = this.#limits;
    const all = this.panel.axes[this.picture.view.axis];
    const at = this.marks.cursor === null ? null : this.series.middle(this.marks.cursor);
    const about = at !== null && at >= low && at <= high ? at : (low + high) / 2;
    const span = [about - (about - low) / factor, about + (high - about) / factor];
    this.marks.span = span[1] - span[0] >= all[1] - all[0] ? null : span;
  }

  get #limits() {
    return this.marks.span ?? this.panel.axes[this.picture.view.axis];
  }

  #changed() {
    const { shown, span, isZoomed } = this.marks;
    const view = isZoomed ? { shown, span } : {};
    const before = JSON.stringify([this.picture.view.shown, this.picture.view.span]);
    delete this.picture.view.shown;
    delete this.picture.view.span;
    Object.assign(this.picture.view, view);
    if (JSON.stringify([view.shown, view.span]) !== before) this.picture.repaint();
    this.marks.see();
    this.draw();
    this.onChange();
    return true;
  }

  /** Draw the marks above the picture, and the points around the cursor. */
  draw() {
    if (!this.marks || !this.picture.geometry) return;
    const { picture, marks } = this;
    const { geometry } = picture.geometry.parts[0];
    const drawn = { ...marks, current: marks.current, kinds: this.question.kinds, truth: this.truth };
    const context = paintAbove(this.above, picture, drawn, this.series);
    if (this.drag?.to) paintSelection(context, geometry, this.drag);
    this.#drawLoupe(geometry, drawn);
    this.#say();
  }

  #drawLoupe(geometry, drawn) {
    const loupe = this.part("loupe");
    loupe.hidden = this.root.clientWidth / this.panel.n >= SPARSE; // whatever the zoom, so that nothing moves
    if (loupe.hidden) return;
    const width = geometry.panel.x + geometry.panel.w + BESIDE;
    paintLoupe(layer(loupe, { width, height: LOUPE_HEIGHT }), width, LOUPE_HEIGHT, this.panel, this.series, drawn);
  }

  #say() {
    const { marks } = this;
    write(this.part("place"), this.#placeWords());
    write(this.part("marked"), marks.isNone ? capital(this.question.no_mark) : this.#markedWords());
    this.canvas.setAttribute("aria-valuenow", String(marks.cursor ?? marks.lowest));
    this.canvas.setAttribute("aria-valuetext", this.#placeWords());
    const [hasNone, isWhole] = [!marks.marks.length, !marks.isZoomed];
    const isFree = !marks.current && marks.begin === null;
    const isOff = { Delete: isFree, "[": hasNone, "]": hasNone, "-": isWhole, 0: isWhole };
    Object.entries(isOff).forEach(([key, off]) => {
      this.part("tools").querySelector(`[data-key="${key}"]`).setAttribute("aria-disabled", String(off));
    });
  }

  #placeWords() {
    const { marks, panel } = this;
    if (!marks.isMarkable) return "The series has only one point, so nothing can be marked.";
    if (marks.cursor === null) return "Click a point, or press an arrow key, to begin.";
    const [factor, unit] = unitFor(panel.median, panel.unit);
    const value = `${Number((this.series.middle(marks.cursor) / factor).toPrecision(4))} ${unit}`.trim();
    const begin = marks.begin === null ? "" : `, range from point ${marks.begin}`;
    const mark = marks.current ? `, mark ${markWords(marks.current)}` : "";
    return `Point ${marks.cursor} of 0 to ${panel.n - 1}: ${value}${mark}${begin}.`;
  }

  #markedWords() {
    const { marks } = this.marks;
    return marks.length ? answerWords(JSON.stringify(marks.map(plain))) : "No mark yet";
  }

  #press(event) {
    if (!event.isPrimary || event.button > 0) return;
    const place = this.#placeOf(event);
    if (!place) return;
    this.drag = { from: place, to: null, isTouch: event.pointerType === "touch" };
    this.canvas.setPointerCapture?.(event.pointerId);
    if (this.drag.isTouch) this.#goTo(place);
  }

  #move(event) {
    if (!this.drag) return;
    const place = this.#placeOf(event, true);
    if (this.drag.isTouch) {
      this.#goTo(place); // a finger moves the cursor
      return;
    }
    const far = Math.max(...place.map((value, k) => Math.abs(value - this.drag.from[k])));
    if (this.drag.to || far >= MOVED) this.drag.to = place;
    this.draw();
  }

  #release(event) {
    const { drag } = this;
    this.drag = null;
    if (!drag || drag.isTouch) return;
    if (drag.to) this.#zoomTo(drag);
    else this.#goTo(this.#placeOf(event, true));
  }

  #drop() {
    this.drag = null;
    this.draw();
  }

  #goTo([x]) {
    this.marks.moveTo(placeAt(this.picture.geometry.parts[0].geometry, this.marks.shown, x) - 0.5);
    this.#changed();
  }

  /** Show what the mouse surrounded; a narrow drag zooms only in the other direction. */
  #zoomTo({ from, to }) {
    const { geometry } = this.picture.geometry.parts[0];
    const [xs, ys] = [0, 1].map((k) => [from[k], to[k]].sort((a, b) => a - b));
    const { shown } = this.marks;
    const limits = this.#limits;
    if (xs[1] - xs[0] >= DRAWN) this.marks.zoomTo(...xs.map((x) => placeAt(geometry, shown, x)));
    const value = (y) => valueAt(geometry, limits, this.picture.view, y);
    if (ys[1] - ys[0] >= DRAWN) this.marks.span = [value(ys[1]), value(ys[0])];
    this.#changed();
  }

  /** The place of an event in the panel, [x, y]; null if it is outside, unless it is brought inside. */
  #placeOf(event, within = false) {
    if (!this.picture.geometry) return null;
    const { x: left, y: top, geometry: { panel } } = this.picture.geometry.parts[0];
    const at = [event.offsetX - left, event.offsetY - top];
    const ranges = [[panel.x, panel.x + panel.w], [panel.y, panel.y + panel.h]];
    const inside = at.map((value, k) => Math.min(Math.max(value, ranges[k][0]), ranges[k][1]));
    return within || inside.every((value, k) => Math.abs(value - at[k]) < DRAWN) ? inside : null;
  }
}

function toolButton([key, name, words, help]) {
  const made = button(key, words);
  made.querySelector("kbd").textContent = name;
  made.title = help;
  made.setAttribute("aria-label", help);
  return made;
}

/** A mark as it stands in an answer. */
function plain({ first, last, kind }) {
  const place = first === last ? first : [first, last];
  return kind === null ? place : { at: place, kind };
}

/** Write a text only if it changed, because screen readers read out each change. */
function write(part, words) {
  if (part.textContent !== words) part.textContent = words;
}

function capital(words) {
  return words[0].toUpperCase() + words.slice(1);
}
