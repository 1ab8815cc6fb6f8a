// The list of unsaved answers with the reasons; the reviewer can download the list and delete an answer.

import { answerWords } from "./marks.js";
import { listedWords } from "./words.js";

const COLUMNS = ["item", "answer", "pressed_utc", "reason", "revision", "confidence", "flag", "comment", "event_id"];

export class Outbox {
  /** part: an element to fill; queue: an AnswerQueue. */
  constructor(part, queue) {
    this.part = part;
    this.queue = queue;
    this.shown = "";
    this.asked = null; // the id of the answer that waits for the confirmation of its deletion
  }

  /** Redraw only after a change, so that a button does not disappear while it is pressed. */
  draw(closed = "") {
    const rows = this.queue.listed.map((entry) => rowOf(entry, closed));
    const shown = JSON.stringify([rows, this.asked]);
    if (shown === this.shown) return;
    this.shown = shown;
    this.closed = closed;
    this.part.hidden = rows.length === 0;
    const list = element("ul", "");
    list.append(...rows.map((row) => this.#line(row)));
    const buttons = element("div", "", "row");
    buttons.append(
      button("Download as JSON", () => download("answers.json", "application/json", JSON.stringify(rows, null, 1))),
      button("Download as CSV", () => download("answers.csv", "text/csv", csv(rows))),
    );
    this.part.replaceChildren(element("h2", listedWords(rows.length)), list, buttons);
  }

  #line(row) {
    const line = element("li", `Item ${row.item}: ${answerWords(row.answer)}. ${row.reason} `);
    const isAsked = this.asked === row.event_id;
    const drop = button(isAsked ? `Yes, delete the answer to ${row.item}` : "Delete", () => {
      this.asked = isAsked ? null : row.event_id;
      if (isAsked) this.queue.dismiss(row.event_id);
      this.draw(this.closed);
    });
    line.append(drop);
    return line;
  }
}

/** The details of an unsaved answer. */
function rowOf({ event, order, reason }, closed) {
  const { code: item, answer, revision, confidence = null, flag = false, comment = null, event_id: id } = event;
  const words = answer === "withdrawn" ? "taken back" : answer;
  const pressed = new Date(order).toISOString();
  const why = reason ?? closed;
  return { item, answer: words, pressed_utc: pressed, reason: why, revision, confidence, flag, comment, event_id: id };
}

/** CSV for a spreadsheet; a comment that looks like a formula gets an apostrophe in front. */
export function csv(rows) {
  const cell = (value) => {
    const text = String(value ?? "");
    return `"${(/^[=+\-@\t\r]/u.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
  };
  return [COLUMNS.join(","), ...rows.map((row) => COLUMNS.map((name) => cell(row[name])).join(","))].join("\r\n");
}

function element(tag, text, name = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  made.className = name;
  return made;
}

function button(text, onClick) {
  const made = element("button", text);
  made.type = "button";
  made.addEventListener("click", onClick);
  return made;
}

function download(name, type, text) {
  const link = element("a", "");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
