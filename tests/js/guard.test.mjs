import assert from "node:assert/strict";
import { test } from "node:test";

import {
  MIN_DWELL_MS, isTyping, pressedKey, pressesAgain, wasSeen,
} from "../../labeler/studies/ui/component/js/guard.js";

const BODY = { tagName: "BODY", isContentEditable: false };
const FIELD = { tagName: "TEXTAREA", isContentEditable: false };

/** The event of a browser for this key. */
function press(key, more = {}) {
  const plain = { repeat: false, ctrlKey: false, altKey: false, metaKey: false, shiftKey: false, isComposing: false };
  return { key, ...plain, ...more };
}

function keyOf(event, target = BODY, dialogIsOpen = false) {
  return pressedKey(event, target, dialogIsOpen);
}

test("a letter, a digit or a sign counts as itself", () => {
  for (const key of ["s", "d", "n", "u", "f", "m", "o", "z", "l", "1", "2", "3", "?"]) {
    assert.equal(keyOf(press(key)), key);
  }
});

test("a capital letter counts as the small letter, with shift and with caps lock", () => {
  assert.equal(keyOf(press("S", { shiftKey: true })), "s");
  assert.equal(keyOf(press("D")), "d");
});

test("a question mark counts with shift held", () => {
  assert.equal(keyOf(press("?", { shiftKey: true })), "?");
});

test("if categories use digits, a digit is its physical key, and shift makes another key", () => {
  const keys = (more) => pressedKey(press(more.key, more), BODY, false, true);
  assert.equal(keys({ key: "1", code: "Digit1" }), "1");
  assert.equal(keys({ key: "&", code: "Digit1" }), "1"); // French keyboard, without Shift
  assert.equal(keys({ key: "1", code: "Digit1", shiftKey: true }), "Shift+1"); // French keyboard, with Shift
  assert.equal(keys({ key: "!", code: "Digit1", shiftKey: true }), "Shift+1");
  assert.equal(keys({ key: "1", code: "Numpad1" }), "1");
  assert.equal(keys({ key: "s", code: "KeyS" }), "s");
  assert.equal(keys({ key: "0", code: "Digit0" }), "0");
});

test("left and right arrow and escape count by their exact names", () => {
  for (const key of ["ArrowLeft", "ArrowRight", "Escape"]) assert.equal(keyOf(press(key)), key);
  for (const key of ["arrowleft", "Esc", "Left"]) assert.equal(keyOf(press(key)), null);
});

test("other named keys do not count", () => {
  const names = ["Tab", "Shift", "Dead", "Process", "Unidentified", "F5", "ArrowUp", "Delete", ""];
  assert.deepEqual(names.map((key) => keyOf(press(key))), names.map(() => null));
});

test("a held key does not count", () => {
  for (const key of ["s", "Escape", "ArrowLeft"]) assert.equal(keyOf(press(key, { repeat: true })), null);
});

for (const modifier of ["ctrlKey", "altKey", "metaKey"]) {
  test(`a press with ${modifier} does not count, alone or with shift`, () => {
    for (const key of ["s", "S", "ArrowLeft", "Escape"]) {
      assert.equal(keyOf(press(key, { [modifier]: true })), null);
      assert.equal(keyOf(press(key, { [modifier]: true, shiftKey: true })), null);
    }
  });
}

test("a press that is part of composing a letter does not count", () => {
  assert.equal(keyOf(press("s", { isComposing: true })), null);
});

test("a press in a text field does not count", () => {
  for (const tagName of ["INPUT", "TEXTAREA", "SELECT"]) {
    assert.equal(keyOf(press("s"), { tagName }), null);
    assert.equal(keyOf(press("Escape"), { tagName }), null);
  }
});

test("a press in editable text does not count", () => {
  assert.equal(keyOf(press("s"), { tagName: "DIV", isContentEditable: true }), null);
  assert.equal(keyOf(press("s"), { tagName: "DIV", isContentEditable: false }), "s");
});

test("a press inside a shadow root counts by the given target, not by the host in the event", () => {
  const host = { tagName: "MY-FIELD", isContentEditable: false };
  assert.equal(keyOf({ ...press("s"), target: host }, FIELD), null);
  assert.equal(keyOf({ ...press("s"), target: FIELD }, BODY), "s");
});

test("a press on a button, or where nothing has the focus, counts", () => {
  for (const target of [{ tagName: "BUTTON" }, { tagName: "CANVAS" }, null, undefined]) {
    assert.equal(keyOf(press("s"), target), "s");
  }
});

test("a press while a dialog is open does not count", () => {
  for (const key of ["s", "Escape", "?", "ArrowRight"]) assert.equal(keyOf(press(key), BODY, true), null);
});

test("an event without a key in a text field, as browsers send when they fill it in, does not count", () => {
  assert.equal(keyOf({ type: "keydown" }, FIELD), null);
});

test("only text fields and editable elements count as typing", () => {
  assert.equal(isTyping(FIELD), true);
  assert.equal(isTyping({ tagName: "P", isContentEditable: true }), true);
  for (const target of [BODY, null, undefined, {}, { tagName: "P", isContentEditable: "true" }]) {
    assert.equal(isTyping(target), false);
  }
});

test("only a held enter or space bar presses a button again", () => {
  assert.equal(pressesAgain(press("Enter", { repeat: true })), true);
  assert.equal(pressesAgain(press(" ", { repeat: true })), true);
  assert.equal(pressesAgain(press("Enter")), false);
  assert.equal(pressesAgain(press("s", { repeat: true })), false);
});

test("an item was seen from 250 ms after it was painted", () => {
  assert.equal(MIN_DWELL_MS, 250);
  assert.deepEqual([0, 249, 249.9, 250, 251, 1e9].map((dwell) => wasSeen(1000, 1000 + dwell)),
    [false, false, false, true, true, true]);
});

test("an item that is not painted yet was not seen", () => {
  assert.equal(wasSeen(null, 1e9), false);
  assert.equal(wasSeen(0, 250), true);
});
