// The dialog for writing a comment on the item.

export class CommentDialog {
  /** onSave(text): receives the comment, or null if it is empty. */
  constructor(dialog, onSave) {
    this.dialog = dialog;
    this.field = dialog.querySelector("textarea");
    dialog.querySelector("form").addEventListener("submit", () => {
      this.field.blur(); // at once, because the next key is for the item
      onSave(this.field.value.trim() || null);
    });
    dialog.addEventListener("cancel", () => this.field.blur());
    dialog.querySelector(".cancel").addEventListener("click", () => this.close());
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) dialog.querySelector("form").requestSubmit();
    });
  }

  get isOpen() {
    return this.dialog.open;
  }

  open(text) {
    this.field.value = text;
    this.dialog.showModal();
    this.field.focus();
  }

  close() {
    this.field.blur();
    if (this.dialog.open) this.dialog.close();
  }
}
