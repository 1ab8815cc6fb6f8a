import assert from "node:assert/strict";
import { test } from "node:test";

import { Drafts, memory, ofWindow, store, stored } from "../../labeler/ui/component/js/storage.js";

const SAID = { flag: true, comment: "a step at “400”\nand back", confidence: 2 };

test("memory gives back what was set last, and null for what is not there", () => {
  const storage = memory();
  assert.equal(storage.getItem("a"), null);
  storage.setItem("a", "1");
  storage.setItem("a", "2");
  assert.equal(storage.getItem("a"), "2");
  storage.removeItem("a");
  assert.equal(storage.getItem("a"), null);
  storage.removeItem("never there");
});

test("memory keeps an empty text apart from nothing", () => {
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

test("what is stored is read as JSON", () => {
  const storage = memory();
  storage.setItem("a", JSON.stringify([1, { b: "ü" }]));
  assert.deepEqual(stored(storage, "a", null), [1, { b: "ü" }]);
});

test("false and nought are stored values, null is none", () => {
  const storage = memory();
  for (const value of [false, 0, ""]) {
    storage.setItem("a", JSON.stringify(value));
    assert.equal(stored(storage, "a", "other"), value);
  }
  storage.setItem("a", "null");
  assert.equal(stored(storage, "a", "other"), "other");
});

test("what is not there or is no JSON reads as the value for that case", () => {
  const storage = memory();
  assert.equal(stored(storage, "a", "other"), "other");
  for (const broken of ["", "{", "undefined", "'a'"]) {
    storage.setItem("a", broken);
    assert.equal(stored(storage, "a", "other"), "other");
  }
});

test("a storage that refuses to be read reads as the value for that case", () => {
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

test("drafts of other items and other reviewers are apart", () => {
  const storage = memory();
  const ours = new Drafts(storage, 7);
  ours.set("A1", SAID);
  assert.equal(ours.get("B2"), null);
  assert.equal(new Drafts(storage, 8).get("A1"), null);
  ours.set("B2", { flag: false });
  ours.drop("B2");
  assert.deepEqual(ours.get("A1"), SAID);
});

test("a draft is kept as it was when it was set", () => {
  const drafts = new Drafts(memory(), 7);
  const said = { ...SAID };
  drafts.set("A1", said);
  said.comment = "changed";
  assert.deepEqual(drafts.get("A1"), SAID);
});

test("a broken draft is none", () => {
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

test("writing says whether it is kept", () => {
  const lasting = { setItem: () => {}, removeItem: () => {} };
  assert.equal(store(lasting, "key", [1]), true);
  assert.equal(store(lasting, "key", null), true);
  assert.equal(store(memory(), "key", [1]), false);
  const full = { ...lasting, setItem: () => { throw new DOMException("full", "QuotaExceededError"); } };
  assert.equal(store(full, "key", [1]), false);
});

test("where the browser forbids its storage, one that forgets stands in", () => {
  globalThis.window = { get sessionStorage() { throw new DOMException("denied", "SecurityError"); } };
  try {
    assert.equal(ofWindow().forgets, true);
    globalThis.window = { sessionStorage: "its own" };
    assert.equal(ofWindow(), "its own");
  } finally {
    delete globalThis.window;
  }
});
