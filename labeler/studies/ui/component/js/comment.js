// The dialog for writing a comment on the item. A text that was not saved stays as a draft in this window.

export class CommentDialog {
  /** onSave(text): receives the comment, or null if it is empty; onDraft(): a changed text was left unsaved. */
  constructor(dialog, onSave, onDraft) {
    Object.assign(this, { dialog, onDraft, drafts: new Map(), code: null, saved: "" });
    this.field = dialog.querySelector("textarea");
    dialog.querySelector("form").addEventListener("submit", () => {
      this.field.blur(); // at once, because the next key is for the item
      this.drafts.delete(this.code);
      this.code = null;
      onSave(this.field.value.trim() || null);
    });
    dialog.addEventListener("cancel", () => this.field.blur());
    dialog.addEventListener("close", () => this.#keepDraft()); // Esc, Cancel, or another item
    dialog.querySelector(".cancel").addEventListener("click", () => this.close());
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) dialog.querySelector("form").requestSubmit();
    });
  }

  get isOpen() {
    return this.dialog.open;
  }

  /** code: of the item; text: its saved comment, or "". */
  open(code, text) {
    [this.code, this.saved] = [code, text];
    this.field.value = this.drafts.get(code) ?? text;
    this.dialog.showModal();
    this.field.focus();
  }

  close() {
    this.field.blur();
    if (this.dialog.open) this.dialog.close();
  }

  #keepDraft() {
    if (this.code === null) return;
    this.drafts.delete(this.code);
    if (this.field.value.trim() === this.saved) return;
    this.drafts.set(this.code, this.field.value);
    this.code = null;
    this.onDraft();
  }
}
