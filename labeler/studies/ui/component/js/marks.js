// The marks that a reviewer sets in one series: a cursor that snaps to points, the marks, the zoom, and undo. No DOM.
// A mark is {first, last, kind}: the first point of a new segment, counted from 0, or a range of points.

const LEAST_SHOWN = 8; // points that fill the picture when it is zoomed in most
export const MAX_MARKS = 1000;
const NEAR = 2; // points within which a practice answer is right
const HELD_SHARE = 0.01; // of the shown points: the step of a key that is held down

export class Marks {
  /**
   * question: {marks: "changes", "change" or "start", ranges, kinds: names, no_mark}; n: number of points;
   * answer: the text of an earlier answer, or null.
   */
  constructor(question, n, answer = null) {
    Object.assign(this, { question, n });
    this.lowest = question.marks === "start" ? 0 : 1;
    this.marks = marksIn(answer);
    this.isNone = answer === question.no_mark;
    this.cursor = this.marks[0]?.first ?? null;
    this.begin = null; // the first point of a range that is not complete
    this.done = []; // earlier states, for undo
    this.shown = [0, n]; // the points in the picture
    this.span = null; // the values in the picture, if the reviewer chose them
    this.seen = 0; // up to which point the reviewer has seen the series without a gap
  }

  /** Whether the series has a point that can be marked. */
  get isMarkable() {
    return this.n > this.lowest;
  }

  /** The mark on the cursor, or undefined. */
  get current() {
    return this.at(this.cursor);
  }

  at(point) {
    return this.marks.find(({ first, last }) => first <= point && point <= last);
  }

  /** Move the cursor to the nearest point that can be marked; the picture follows. */
  moveTo(point) {
    if (!this.isMarkable) return;
    this.cursor = Math.min(Math.max(Math.round(point), this.lowest), this.n - 1);
    const [from, to] = this.shown;
    if (this.cursor < from) this.#show(this.cursor, to - from);
    else if (this.cursor + 1 > to) this.#show(this.cursor + 1 - (to - from), to - from);
  }

  /** Move the cursor by one point, or by more if the key is held down. The first step begins in the middle. */
  step(direction, isHeld = false) {
    const [from, to] = this.shown;
    const by = isHeld ? Math.max(Math.round((to - from) * HELD_SHARE), 1) : 1;
    this.moveTo(this.cursor === null ? Math.floor((from + to) / 2) : this.cursor + direction * by);
  }

  /** Move the cursor to the next mark in a direction; at the end, to the first mark from the other end. */
  go(direction) {
    const places = this.marks.map(({ first }) => first);
    if (direction < 0) places.reverse();
    const next = places.find((place) => this.cursor === null || direction * (place - this.cursor) > 0) ?? places[0];
    if (next !== undefined) this.moveTo(next);
    return next !== undefined;
  }

  /** Mark the point at the cursor, or end a range there; a mark that is there already gets the kind. */
  mark(kind = null) {
    if (this.cursor === null) this.step(1);
    if (this.cursor === null) return false;
    const [first, last] = [this.begin ?? this.cursor, this.cursor].sort((a, b) => a - b);
    const there = this.begin === null ? this.current : undefined;
    if (there && (kind === null || there.kind === kind)) return false;
    if (!there && this.question.marks === "changes" && this.marks.length >= MAX_MARKS) return false;
    this.#keep();
    const others = this.marks.filter((mark) => mark !== there && !(mark.first <= last && first <= mark.last));
    const made = there ? { ...there, kind } : { first, last, kind };
    this.marks = [...(this.question.marks === "changes" ? others : []), made].sort((a, b) => a.first - b.first);
    this.isNone = false;
    this.begin = null;
    return true;
  }

  /** Begin a range at the cursor, or end it there. */
  range() {
    if (!this.question.ranges || this.cursor === null) return false;
    if (this.begin !== null) return this.mark();
    this.begin = this.cursor;
    return true;
  }

  /** Remove the mark at the cursor, or give a range up that is not complete. */
  remove() {
    if (this.begin !== null) {
      this.begin = null;
      return true;
    }
    const { current } = this;
    if (!current) return false;
    this.#keep();
    this.marks = this.marks.filter((mark) => mark !== current);
    return true;
  }

  /** Choose the answer without marks, which removes all marks. */
  chooseNone() {
    if (this.isNone) return;
    this.#keep();
    Object.assign(this, { marks: [], isNone: true, begin: null });
  }

  /** Take the last change back; returns whether there was one. */
  undo() {
    if (!this.done.length) return false;
    Object.assign(this, this.done.pop(), { begin: null });
    return true;
  }

  /** The answer as text; null if there is none yet. */
  get answer() {
    if (this.isNone) return this.question.no_mark;
    if (this.problem) return null;
    const places = this.marks.map(({ first, last, kind }) => {
      const place = first === last ? first : [first, last];
      return kind === null ? place : { at: place, kind };
    });
    return JSON.stringify(places);
  }

  /** What is missing before the answer can be saved: "none" (no mark), "kind", "range" or ""; "whole" if not seen. */
  get problem() {
    if (this.seen < this.n) return "whole";
    if (this.isNone) return "";
    if (this.begin !== null) return "range";
    if (!this.marks.length) return "none";
    return this.question.kinds.length && this.marks.some(({ kind }) => kind === null) ? "kind" : "";
  }

  /** Note that the shown part was on the screen. */
  see() {
    const [from, to] = this.shown;
    if (from <= this.seen) this.seen = Math.max(this.seen, to);
  }

  get isZoomed() {
    return this.shown[1] - this.shown[0] < this.n || this.span !== null;
  }

  /** Show fewer points (a factor above 1) or more around the cursor, or around the middle. */
  zoom(factor) {
    const [from, to] = this.shown;
    const about = this.cursor !== null && this.cursor >= from && this.cursor < to ? this.cursor + 0.5 : (from + to) / 2;
    const length = Math.min(Math.max((to - from) / factor, Math.min(LEAST_SHOWN, this.n)), this.n);
    this.#show(about - ((about - from) / (to - from)) * length, length);
  }

  /** Show the points from one place to another, which can be fractions. */
  zoomTo(from, to) {
    const length = Math.max(Math.abs(to - from), Math.min(LEAST_SHOWN, this.n));
    this.#show((from + to - length) / 2, length);
  }

  showAll() {
    Object.assign(this, { shown: [0, this.n], span: null });
  }

  #show(from, length) {
    const start = Math.min(Math.max(from, 0), this.n - length);
    this.shown = [start, start + length];
  }

  #keep() {
    this.done.push({ marks: this.marks, isNone: this.isNone });
  }
}

/** The marks in an answer, as a list; an answer without marks has none. */
export function marksIn(answer) {
  if (!answer?.startsWith("[")) return [];
  return JSON.parse(answer).map((value) => {
    const { at, kind } = value.kind === undefined ? { at: value, kind: null } : value;
    const [first, last] = Array.isArray(at) ? at : [at, at];
    return { first, last, kind };
  });
}

/** A mark in words, such as "12", "10 to 14" or "12 (slower)". */
export function markWords({ first, last, kind }) {
  const place = first === last ? String(first) : `${first} to ${last}`;
  return kind === null ? place : `${place} (${kind})`;
}

/** How each mark of an answer lies to the known changes: {matches: [{mark, at, off}], extra, missed}. */
function compared(answer, truth) {
  const given = marksIn(answer);
  const far = ({ first, last }, at) => Math.max(first - at, 0) || Math.min(last - at, 0);
  const pairs = given.flatMap((mark) => truth.map((at) => ({ mark, at, off: far(mark, at) })));
  const taken = new Set();
  const matches = pairs.sort((a, b) => Math.abs(a.off) - Math.abs(b.off)).filter(({ mark, at }) => {
    if (taken.has(mark) || taken.has(at)) return false;
    taken.add(mark).add(at);
    return true;
  });
  const [extra, missed] = [given, truth].map((all) => all.filter((one) => !taken.has(one)));
  return { matches: matches.sort((a, b) => a.at - b.at), extra, missed };
}

/** In practice: how far each mark is from the known changes (points in order), in sentences. */
export function feedbackWords(answer, truth) {
  const { matches, extra, missed } = compared(answer, truth);
  const yours = [
    ...matches.map(({ mark, at, off }) => `${markWords(mark)} ${offWords(off, at)}`),
    ...extra.map((mark) => `${markWords(mark)}, where nothing should be marked`),
  ];
  return [
    truth.length ? `Known: ${truth.join(", ")}.` : "There is nothing to mark.",
    yours.length ? `You marked ${yours.join("; ")}.` : "You marked nothing.",
    ...(missed.length ? [`Not marked: ${missed.join(", ")}.`] : []),
  ].join(" ");
}

/** Whether an answer has a mark near each known change and no other marks, in a series of n points. */
export function isNear(answer, truth, n) {
  const { matches, extra, missed } = compared(answer, truth);
  if (answer === "not sure" || extra.length || missed.length) return false;
  return matches.every(({ off }) => Math.abs(off) <= Math.max(NEAR, n / 100));
}

function offWords(off, at) {
  if (off === 0) return "(exactly)";
  const n = Math.abs(off) === 1 ? "1 point" : `${Math.abs(off)} points`;
  return `(${n} ${off > 0 ? "after" : "before"} ${at})`;
}

/** An answer in words, such as "2 marks: 12, 80". */
export function answerWords(answer) {
  const marks = marksIn(answer);
  if (!marks.length) return answer;
  return `${marks.length === 1 ? "1 mark" : `${marks.length} marks`}: ${marks.map(markWords).join(", ")}`;
}
