// Decides which key presses count. A key that is held down, a press in a text field or dialog, and a press
// before the item was visible do not count.

export const MIN_DWELL_MS = 250;

export const SHIFT = "Shift+"; // before the digit of a second answer, if digits are categories

const TEXT_FIELDS = new Set(["INPUT", "TEXTAREA", "SELECT"]);
const BRACKETS = new Set("[]+-");
const PRESSING = new Set(["Enter", " "]);
const PRESSED = /^(A|BUTTON|SUMMARY)$/u; // elements that take Enter and the space bar
const ALIASES = { Delete: "Delete", Backspace: "Delete", "=": "+", _: "-" };
const NAMED_KEYS = new Set(["ArrowLeft", "ArrowRight", "Enter", "Escape"]);

/** Whether a press is meant for a text field; a text field in a closed dialog does not take presses. */
export function isTyping(target) {
  if (!target || target.closest?.("dialog")?.open === false) return false;
  return TEXT_FIELDS.has(target.tagName) || target.isContentEditable === true;
}

/**
 * The key to act on, or null. `target` is the innermost element of the press, also inside a shadow root. If categories
 * use digits, a digit is the physical key, because some keyboards type digits with Shift, and Shift makes another key.
 */
export function pressedKey(event, target, dialogIsOpen, digitsAnswer = false) {
  if (event.repeat || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return null;
  if (dialogIsOpen || isTyping(target)) return null;
  const digit = digitsAnswer && /^Digit([1-9])$/u.exec(event.code ?? "")?.[1];
  if (digit) return event.shiftKey ? `${SHIFT}${digit}` : digit;
  if (NAMED_KEYS.has(event.key)) return event.key;
  return event.key.length === 1 ? event.key.toLowerCase() : null;
}

/**
 * The key to act on while points are marked, or null: arrows may be held down, some keyboards type brackets with AltGr,
 * a focused button takes Enter and the space bar for itself, and outside the picture, up and down scroll the page.
 */
export function markingKey(event, target, dialogIsOpen, digitsAnswer = false) {
  if (dialogIsOpen || isTyping(target) || event.isComposing) return null;
  if (event.getModifierState?.("AltGraph") && BRACKETS.has(event.key)) return event.key;
  if (PRESSING.has(event.key) && PRESSED.test(target?.tagName)) return null;
  if (event.ctrlKey || event.altKey || event.metaKey) return null;
  if (event.key.startsWith("Arrow")) return isSideways(event) || target?.tagName === "CANVAS" ? event.key : null;
  return (!event.repeat && ALIASES[event.key]) || pressedKey(event, target, dialogIsOpen, digitsAnswer);
}

function isSideways({ key }) {
  return key === "ArrowLeft" || key === "ArrowRight";
}

/** Whether Enter or the space bar is held down and would press the focused button again. */
export function pressesAgain(event) {
  return event.repeat && (event.key === "Enter" || event.key === " ");
}

/** Whether the reviewer can have seen the item that was painted at `paintedAt` (null: not painted yet) by `now`. */
export function wasSeen(paintedAt, now) {
  return paintedAt !== null && now - paintedAt >= MIN_DWELL_MS;
}
