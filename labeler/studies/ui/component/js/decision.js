// A coordinator's decision about an item: a category, and for some decisions a reason. The server checks both.

import { SHIFT } from "./guard.js";
import { Requests } from "./requests.js";

const NOT_SAVED = "The server did not reply, so this decision may not be saved. Check it, or try again.";
const SAVE = "Enter";
const OWN_WORDS = "own words";

export class Decision {
  /** part: the markup of the decision; decided(key): called after the decision with this key was saved. */
  constructor(part, decided) {
    Object.assign(this, { part, decided });
    this.why = part.querySelector(".why");
    this.told = part.querySelector(".told");
    this.why.addEventListener("keydown", (event) => {
      if (event.key === SAVE && !event.repeat && !event.isComposing) this.save();
    });
  }

  /** Take the data of the page. A new item has neither category nor reason. */
  update({ decides, item, ...data }) {
    const isNew = this.item !== item || JSON.stringify(this.decides) !== JSON.stringify(decides);
    Object.assign(this, { decides, item, data, isSaving: false });
    if (isNew) this.#clear();
    this.#say();
  }

  /** Whether the decision has this key. */
  has(key) {
    if (!this.decides) return false;
    return key in this.decides.categories || this.#reasonOf(key) !== null || this.#isOwn(key) || this.#saves(key);
  }

  /** Whether a category of the decision has a digit as its key. */
  get digitsAnswer() {
    return Object.keys(this.decides?.categories ?? {}).some((key) => /[1-9]/u.test(key));
  }

  /** Choose a category or a reason, or save. Both together save the decision; without reasons, the category does. */
  act(key) {
    if (this.isSaving) return;
    if (this.#saves(key)) {
      this.save();
      return;
    }
    if (this.#isOwn(key)) this.why.focus();
    else if (key in this.decides.categories) this.key = key;
    else this.reason = this.reason === this.#reasonOf(key) ? null : this.#reasonOf(key);
    this.#say();
    if (this.key !== null && (this.reason !== null || !this.decides.reasons.length)) this.save();
  }

  /** Send the decision; the page hears of it only after it was saved. */
  async save() {
    if (this.isSaving) return;
    this.isSaving = true;
    this.#say();
    const { item, decides: { kind, categories }, key } = this;
    const why = [this.reason, this.why.value.trim()].filter(Boolean).join(": ");
    const reply = await new Requests(this.data).decision({ kind, item, category: categories[key] ?? null, why });
    if (this.item !== item) return;
    if (reply.failed) {
      this.isSaving = false;
      this.#say(reply.message || NOT_SAVED);
      return;
    }
    this.#clear();
    this.decided(key);
  }

  #saves(key) {
    return key === SAVE && this.decides.reasons.length > 0;
  }

  #reasonOf(key) {
    const number = this.before && key.startsWith(this.before) ? key.slice(this.before.length) : key;
    if (this.before && number === key) return null;
    return /^[1-9]$/.test(number) ? (this.decides.reasons[Number(number) - 1] ?? null) : null;
  }

  /** Whether the key leads to the field for another reason. */
  #isOwn(key) {
    return this.decides.reasons.length > 0 && key === `${this.before}${this.decides.reasons.length + 1}`;
  }

  #clear() {
    Object.assign(this, { key: null, reason: null });
    this.why.value = "";
    const reasons = this.decides?.reasons ?? [];
    this.before = this.digitsAnswer ? SHIFT : ""; // of the digit of a reason
    const choices = reasons.length ? [...reasons, OWN_WORDS] : [];
    const buttons = choices.map((words, i) => button(`${this.before}${i + 1}`, words));
    this.part.querySelector(".reasons").replaceChildren(...buttons);
    this.part.querySelector(".why-part").hidden = !reasons.length;
  }

  /** Show what was chosen, and a message if the decision was not saved. */
  #say(message = "") {
    this.part.hidden = !this.decides;
    const { categories = {} } = this.decides ?? {};
    this.part.querySelector(".why-part .legend").textContent = this.key ? `Why ${categories[this.key]}?` : "Reason";
    this.told.textContent = message;
    const needsReason = Boolean(this.decides?.reasons.length);
    const buttons = this.part.closest(".viewer").querySelectorAll("[data-key]");
    buttons.forEach((one) => {
      const { key } = one.dataset;
      if (!this.has(key)) return;
      const isChosen = key === this.key || (this.reason !== null && this.#reasonOf(key) === this.reason);
      if (needsReason && key !== SAVE) one.setAttribute("aria-pressed", String(isChosen));
      one.setAttribute("aria-disabled", String(this.isSaving));
    });
  }
}

/** A button that shows its key. */
export function button(key, words) {
  const made = document.createElement("button");
  made.type = "button";
  made.dataset.key = key;
  made.setAttribute("aria-keyshortcuts", key.toUpperCase());
  const [letter, name] = [document.createElement("kbd"), document.createElement("span")];
  letter.setAttribute("aria-hidden", "true");
  letter.textContent = key.toUpperCase();
  name.textContent = words;
  made.append(letter, name);
  return made;
}
