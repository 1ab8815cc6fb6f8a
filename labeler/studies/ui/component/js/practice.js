// A practice round in the browser, with the same functions as `Requests`, but without a server.

import { roundWords } from "./words.js";

export class PracticeRound {
  /**
   * data: {items: [{code, panels, explains, right}], given: code -> answer, if the round is over}. Items that people
   * have labelled have `labels` (category -> number of labels) in place of `right`, and `people` says how often people
   * agree.
   */
  constructor({ items, given, people }) {
    this.all = items;
    this.given = { ...given };
    this.people = people ?? "";
  }

  /** What a server would reply. */
  get reply() {
    const open = this.all.filter(({ code }) => !(code in this.given));
    const n = this.all.length;
    return {
      state: open.length ? "open" : "done",
      closed: "",
      end: roundWords(this.all, this.given, this.people),
      done: n - open.length,
      total: n,
      not_sure: 0,
      offers: open.slice(0, 2),
      last: null,
    };
  }

  async answers({ answers }) {
    answers.forEach(({ code, answer }) => (this.given[code] = answer));
    return { ...this.reply, answers: answers.map(({ event_id: id }) => ({ event_id: id, outcome: "saved" })) };
  }

  async items() {
    return [];
  }

  async state() {
    return this.reply;
  }
}
