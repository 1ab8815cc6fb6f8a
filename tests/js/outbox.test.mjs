import assert from "node:assert/strict";
import { test } from "node:test";

import { csv } from "../../labeler/studies/ui/component/js/outbox.js";

const ROW = {
  item: "K7", answer: "similar", pressed_utc: "2026-11-22T13:00:00.000Z", reason: "The study is paused.", revision: 0,
  confidence: null, flag: false, comment: null, event_id: "e1",
};

test("answers that were not saved have one line each below the column names", () => {
  const [names, line, ...others] = csv([ROW]).split("\r\n");
  assert.equal(names, Object.keys(ROW).join(","));
  assert.equal(line, '"K7","similar","2026-11-22T13:00:00.000Z","The study is paused.","0","","false","","e1"');
  assert.deepEqual(others, []);
});

test("quotes, commas and new lines of a comment stay in its cell", () => {
  assert.ok(csv([{ ...ROW, comment: 'a "step",\nthen' }]).includes(',"a ""step"",\nthen",'));
});

test("a comment that begins like a formula is text", () => {
  for (const comment of ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"]) {
    assert.ok(csv([{ ...ROW, comment }]).includes(`,"'${comment}",`), comment);
  }
});
