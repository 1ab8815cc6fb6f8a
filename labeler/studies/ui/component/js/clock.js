// Records raw time on task: how long an item was on the screen, and the stretches in which the page was hidden or
// the reviewer gave no input. The server decides which of these times count.

export const NOTED_MS = 15000; // shorter stretches without input are not pauses
export const IDLE_MS = 60000; // after this time without input the screen says that the time does not count
const MAX_PAUSES = 30;

export class Clock {
  /** now(): milliseconds from a clock that never goes back. */
  constructor(now) {
    this.now = now;
    this.hiddenSince = null;
    this.start();
  }

  /** An item was painted. */
  start() {
    this.startedAt = this.now();
    this.lastSign = this.startedAt;
    this.hiddenSince = this.hiddenSince === null ? null : this.startedAt;
    this.pauses = [];
  }

  /** Input from the reviewer: a key, the pointer or the wheel. */
  sign() {
    const now = this.now();
    if (this.hiddenSince === null) this.#note(this.lastSign, now, "idle");
    this.lastSign = now;
  }

  hide() {
    if (this.hiddenSince !== null) return;
    this.sign();
    this.hiddenSince = this.now();
  }

  reveal() {
    if (this.hiddenSince === null) return;
    const since = this.hiddenSince;
    this.hiddenSince = null;
    this.#note(since, this.now(), "hidden");
    this.lastSign = this.now();
  }

  get isAway() {
    return this.hiddenSince !== null || this.now() - this.lastSign >= IDLE_MS;
  }

  /** The times of an answer: {dwell_ms, pauses: [[start, length, reason], ...]}; of many pauses, only the longest. */
  read() {
    if (this.hiddenSince === null) this.sign();
    else {
      this.reveal();
      this.hide();
    }
    const longest = [...this.pauses].sort((a, b) => b[1] - a[1]).slice(0, MAX_PAUSES);
    return { dwell_ms: Math.round(this.now() - this.startedAt), pauses: longest.sort((a, b) => a[0] - b[0]) };
  }

  #note(from, to, why) {
    if (why === "idle" && to - from < NOTED_MS) return;
    const [start, end] = [from, to].map((time) => Math.round(time - this.startedAt));
    if (to - from >= 1) this.pauses.push([start, end - start, why]);
  }
}
