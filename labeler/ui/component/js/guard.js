// Which key presses count. A held key, a press meant for a text field or a dialog, and a press
// before the item could be seen do not.

export const MIN_DWELL_MS = 250;

const TEXT_FIELDS = new Set(["INPUT", "TEXTAREA", "SELECT"]);
const NAMED_KEYS = new Set(["ArrowLeft", "ArrowRight", "Enter", "Escape"]);

/** Whether a press is meant for a text field; one in a dialog that was just closed takes no more. */
export function isTyping(target) {
  if (!target || target.closest?.("dialog")?.open === false) return false;
  return TEXT_FIELDS.has(target.tagName) || target.isContentEditable === true;
}

/** The key to act on, or null. `target` is where the press really happened, also inside a shadow root. */
export function pressedKey(event, target, dialogIsOpen) {
  if (event.repeat || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return null;
  if (dialogIsOpen || isTyping(target)) return null;
  if (NAMED_KEYS.has(event.key)) return event.key;
  return event.key.length === 1 ? event.key.toLowerCase() : null;
}

/** Whether a held Enter or space bar is about to press the focused button once more. */
export function pressesAgain(event) {
  return event.repeat && (event.key === "Enter" || event.key === " ");
}

/** Whether an answer at `now` can be to what was painted at `paintedAt` (null: not painted yet). */
export function wasSeen(paintedAt, now) {
  return paintedAt !== null && now - paintedAt >= MIN_DWELL_MS;
}
