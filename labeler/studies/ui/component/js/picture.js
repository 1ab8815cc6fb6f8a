// The picture of one item on a canvas, with its view: axis, logarithm, overlay, highlighted run.

import { viewsOf } from "./layout.js";
import { arrangeAll, legendOf, nRunsOf, paintAll, runOf, summaryOf } from "./panels.js";
import { axisWords } from "./words.js";

const LETTER_WIDTH = 6.1; // of the legend, in pixels
const PREPARE_AFTER_MS = 100; // a reviewer needs longer to answer

/** The study's default view of an item. */
function firstView([{ rule }]) {
  return { axis: rule, log: false, overlay: false, run: null };
}

/** Two drawings of the same panels with the same stamp are equal. */
function stampOf({ width, height }, view, showsNumbers) {
  return JSON.stringify([width, height, window.devicePixelRatio || 1, view, showsNumbers]);
}

export class Picture {
  /** root: contains a canvas, a legend and the view buttons; onChange(): called when the view changes. */
  constructor(root, onChange = () => {}) {
    this.root = root;
    this.onChange = onChange;
    this.canvas = root.querySelector("canvas.runs");
    this.legend = root.querySelector(".legend");
    this.panels = null; // the panels of the item, which have common axes
    this.geometry = null; // see `arrangeAll`
    this.prepared = null; // {panels, stamp, canvas}: a picture that was drawn in advance
  }

  listen(signal) {
    this.canvas.addEventListener("pointermove", (event) => this.onPointer(event), { signal });
    this.canvas.addEventListener("pointerdown", (event) => this.onPointer(event), { signal });
    this.canvas.addEventListener("pointerleave", () => this.highlight(null), { signal });
  }

  /** Set the item and the study's default view; `draw` draws it. */
  show(panels, showsNumbers = false) {
    this.panels = panels;
    this.geometry = null;
    this.showsNumbers = showsNumbers;
    this.view = firstView(panels);
  }

  /** Set the alternative text, after the picture is on the screen. */
  describe() {
    this.canvas.setAttribute("aria-label", summaryOf(this.panels));
  }

  /** Prepare a picture when the page has done nothing else for a moment; `next()` returns it, if there is one. */
  prepareSoon(next, showsNumbers) {
    clearTimeout(this.preparing);
    this.preparing = setTimeout(() => {
      const panels = next();
      if (panels) this.prepare(panels, showsNumbers);
    }, PREPARE_AFTER_MS);
  }

  /** Draw the item that comes next on a canvas that is not on the page. Then `draw` only has to copy it. */
  prepare(panels, showsNumbers = false) {
    if (!this.geometry || this.prepared?.panels === panels) return;
    const geometry = arrangeAll(panels, this.root.clientWidth, this.height, false);
    const canvas = document.createElement("canvas");
    const context = this.#blank(canvas, geometry);
    const view = firstView(panels);
    paintAll(context, panels, geometry, view, showsNumbers);
    context.getImageData(0, 0, 1, 1); // otherwise the browser would compute the pixels only when they are copied
    this.prepared = { panels, stamp: stampOf(geometry, view, showsNumbers), canvas };
  }

  /** `height`: the height for the runs, in pixels. */
  draw(height) {
    this.height = height;
    const width = this.root.clientWidth;
    this.geometry = arrangeAll(this.panels, width, height, this.view.overlay);
    this.legend.textContent = legendOf(this.panels, width / LETTER_WIDTH);
    this.repaint();
  }

  repaint() {
    this.density = window.devicePixelRatio || 1;
    const context = this.#blank(this.canvas, this.geometry);
    this.canvas.style.height = `${this.geometry.height}px`;
    if (this.prepared?.panels !== this.panels || this.prepared.stamp !== this.#stamp) {
      paintAll(context, this.panels, this.geometry, this.view, this.showsNumbers);
      return;
    }
    context.resetTransform();
    context.drawImage(this.prepared.canvas, 0, 0);
  }

  get #stamp() {
    return stampOf(this.geometry, this.view, this.showsNumbers);
  }

  /** Clear a canvas and set its size; returns its context. */
  #blank(canvas, { width, height }) {
    const density = window.devicePixelRatio || 1;
    Object.assign(canvas, { width: Math.round(width * density), height: Math.round(height * density) });
    const context = canvas.getContext("2d");
    context.scale(density, density);
    return context;
  }

  /** Whether the pixel density changed, because of another screen or zoom. */
  get isStale() {
    return this.panels !== null && this.density !== (window.devicePixelRatio || 1);
  }

  /** Perform the view action of a key; return whether the key has one. */
  act(key) {
    if (key === "z") this.#next();
    else if (key === "l") this.view.log = !this.view.log;
    else if (key === "o") this.view.overlay = !this.view.overlay;
    else if (key.startsWith("Arrow")) this.#step(key === "ArrowRight" ? 1 : -1);
    else return false;
    if (!key.startsWith("Arrow")) this.onChange();
    return true;
  }

  /** Update the texts and states of the view buttons. */
  sayButtons(button) {
    const { axis, log, overlay } = this.view ?? {};
    const rule = this.panels?.[0].rule;
    if (this.panels) button("z").querySelector("span").textContent = `Axis: ${axisWords(axis, this.panels[0])}`;
    button("z").classList.toggle("changed", this.panels !== null && axis !== rule);
    button("o").setAttribute("aria-pressed", String(Boolean(overlay)));
    button("l").setAttribute("aria-pressed", String(Boolean(log)));
  }

  /** Highlight one run in the panels that show all runs. */
  highlight(run) {
    if (!this.panels || this.view.run === run) return;
    this.view.run = run;
    if (this.geometry) this.repaint();
  }

  #next() {
    const views = viewsOf(this.panels[0]);
    this.view.axis = views[(views.indexOf(this.view.axis) + 1) % views.length];
  }

  #step(by) {
    const n = nRunsOf(this.panels);
    if (!n) return;
    this.highlight(this.view.run === null ? (by > 0 ? 0 : n - 1) : (this.view.run + by + n) % n);
  }

  onPointer(event) {
    if (this.geometry) this.highlight(runOf(this.panels, this.geometry, event.offsetX, event.offsetY));
  }
}
