import assert from "node:assert/strict";
import { test } from "node:test";

import {
  Drafts, keysOf, memory, ofBrowser, ofWindow, store, stored,
} from "../../labeler/studies/ui/component/js/storage.js";

const SAID = { flag: true, comment: "a step at “400”\nand back", confidence: 2 };

test("memory returns the last set value, and null for a missing value", () => {
  const storage = memory();
  assert.equal(storage.getItem("a"), null);
  storage.setItem("a", "1");
  storage.setItem("a", "2");
  assert.equal(storage.getItem("a"), "2");
  storage.removeItem("a");
  assert.equal(storage.getItem("a"), null);
  storage.removeItem("never there");
});

test("memory distinguishes an empty text from a missing value", () => {
  const storage = memory();
  storage.setItem("a", "");
  assert.equal(storage.getItem("a"), "");
});

test("two memories share nothing", () => {
  const [one, other] = [memory(), memory()];
  one.setItem("a", "1");
  assert.equal(other.getItem("a"), null);
});

test("memory is not confused by names that every object has", () => {
  for (const name of ["constructor", "__proto__", "toString"]) assert.equal(memory().getItem(name), null);
});

test("stored values are read as JSON", () => {
  const storage = memory();
  storage.setItem("a", JSON.stringify([1, { b: "ü" }]));
  assert.deepEqual(stored(storage, "a", null), [1, { b: "ü" }]);
});

test("false and zero are stored values, null is not", () => {
  const storage = memory();
  for (const value of [false, 0, ""]) {
    storage.setItem("a", JSON.stringify(value));
    assert.equal(stored(storage, "a", "other"), value);
  }
  storage.setItem("a", "null");
  assert.equal(stored(storage, "a", "other"), "other");
});

test("missing or invalid JSON gives the default value", () => {
  const storage = memory();
  assert.equal(stored(storage, "a", "other"), "other");
  for (const broken of ["", "{", "undefined", "'a'"]) {
    storage.setItem("a", broken);
    assert.equal(stored(storage, "a", "other"), "other");
  }
});

test("an unreadable storage gives the default value", () => {
  const getItem = () => {
    throw new DOMException("access is denied", "SecurityError");
  };
  assert.equal(stored({ getItem }, "a", "other"), "other");
});

test("a draft survives a new page on the same storage", () => {
  const storage = memory();
  new Drafts(storage, 7).set("A1", SAID);
  assert.deepEqual(new Drafts(storage, 7).get("A1"), SAID);
});

test("a draft that was never written, or was dropped, is null", () => {
  const drafts = new Drafts(memory(), 7);
  assert.equal(drafts.get("A1"), null);
  drafts.set("A1", SAID);
  drafts.drop("A1");
  assert.equal(drafts.get("A1"), null);
  drafts.drop("A1");
});

test("drafts of different items and reviewers are separate", () => {
  const storage = memory();
  const ours = new Drafts(storage, 7);
  ours.set("A1", SAID);
  assert.equal(ours.get("B2"), null);
  assert.equal(new Drafts(storage, 8).get("A1"), null);
  ours.set("B2", { flag: false });
  ours.drop("B2");
  assert.deepEqual(ours.get("A1"), SAID);
});

test("later changes of an object do not change the stored draft", () => {
  const drafts = new Drafts(memory(), 7);
  const said = { ...SAID };
  drafts.set("A1", said);
  said.comment = "changed";
  assert.deepEqual(drafts.get("A1"), SAID);
});

test("an invalid draft counts as missing", () => {
  const storage = memory();
  const drafts = new Drafts(storage, 7);
  drafts.set("A1", SAID);
  storage.setItem(drafts.key("A1"), "{");
  assert.equal(drafts.get("A1"), null);
});

test("a draft on a full storage is lost without an error", () => {
  const setItem = () => {
    throw new DOMException("the quota has been exceeded", "QuotaExceededError");
  };
  assert.doesNotThrow(() => new Drafts({ ...memory(), setItem }, 7).set("A1", SAID));
});

test("writing returns whether the value was stored", () => {
  const lasting = { setItem: () => {}, removeItem: () => {} };
  assert.equal(store(lasting, "key", [1]), true);
  assert.equal(store(lasting, "key", null), true);
  assert.equal(store(memory(), "key", [1]), false);
  const full = { ...lasting, setItem: () => { throw new DOMException("full", "QuotaExceededError"); } };
  assert.equal(store(full, "key", [1]), false);
});

test("names in a storage are found by prefix", () => {
  const storage = memory();
  ["a-1", "b-1", "a-2"].forEach((key) => storage.setItem(key, "1"));
  assert.deepEqual(keysOf(storage, "a-"), ["a-1", "a-2"]);
  assert.deepEqual(keysOf({ get length() { throw new DOMException("denied", "SecurityError"); } }, "a-"), []);
});

/** A `window` in which the browser allows some storages and forbids others. */
function withStorages(allowed, then) {
  const denied = { get() { throw new DOMException("denied", "SecurityError"); } };
  globalThis.window = {};
  for (const name of ["sessionStorage", "localStorage"]) {
    Object.defineProperty(globalThis.window, name, allowed.includes(name) ? { value: name } : denied);
  }
  try {
    then();
  } finally {
    delete globalThis.window;
  }
}

test("if the browser forbids a storage, the next best storage is used", () => {
  withStorages(["sessionStorage", "localStorage"], () => {
    assert.deepEqual([ofWindow(), ofBrowser()], ["sessionStorage", "localStorage"]);
  });
  withStorages(["sessionStorage"], () => assert.equal(ofBrowser(), "sessionStorage"));
  withStorages([], () => assert.deepEqual([ofWindow().forgets, ofBrowser().forgets], [true, true]));
});
