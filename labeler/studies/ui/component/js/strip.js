// The last event: the previous item and its answer with a small picture, or the reason why a key press did nothing.

import { thumbnailOf } from "./panels.js";

const SIZE = [150, 22];
const SHORT_MS = 4000; // how long the reason for an ignored press is shown

export class Strip {
  /** part: a canvas for the small picture. */
  constructor(part) {
    this.canvas = part;
    this.kept = null; // the last answer or undo
    this.remark = null; // the reason why a press did nothing
  }

  /**
   * kind: "answered", "undone", "fast", "nothing" or "unfinished"; said: {code, answer, panels} for the first two
   * kinds; words: for the last kind.
   */
  tell(kind, said = null, words = "") {
    if (said) {
      this.kept = { kind, ...said };
      this.remark = null;
      this.#draw(said.panels);
    } else {
      this.remark = { kind, words, until: performance.now() + SHORT_MS };
    }
  }

  /** The event to show now: {kind, code, answer}, or null. */
  get told() {
    if (this.remark && performance.now() < this.remark.until) return this.remark;
    return this.kept;
  }

  #draw(panels) {
    this.canvas.hidden = !panels;
    if (!panels) return;
    const density = window.devicePixelRatio || 1;
    [this.canvas.width, this.canvas.height] = SIZE.map((size) => Math.round(size * density));
    [this.canvas.style.width, this.canvas.style.height] = SIZE.map((size) => `${size}px`);
    const context = this.canvas.getContext("2d");
    context.scale(density, density);
    thumbnailOf(context, panels, ...SIZE);
  }
}
