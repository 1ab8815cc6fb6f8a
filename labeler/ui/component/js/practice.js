// A practice round in the browser, with the same functions as `Requests`, but without a server.

export class PracticeRound {
  /** data: {items: [{code, panels, explains, right}], given: code -> answer, if the round is over}. */
  constructor({ items, given }) {
    this.all = items;
    this.given = { ...given };
  }

  /** What a server would reply. */
  get reply() {
    const open = this.all.filter(({ code }) => !(code in this.given));
    const n = this.all.length;
    const nRight = this.all.filter(({ code, right }) => right !== null && this.given[code] === right).length;
    const score = `${nRight} of your ${n} answers match the way the items were generated.`;
    return {
      state: open.length ? "open" : "done",
      closed: "",
      end: `The practice round is over. ${score}`,
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
