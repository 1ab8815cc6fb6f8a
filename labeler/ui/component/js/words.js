// What the screen says.

const NUMBERS = (
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen " +
  "eighteen nineteen twenty"
).split(" ");
const AXIS_WORDS = { close: "close", pooled: "0.5 to 99.5 %", full: "all" };

/** The axis in use; the one that the study begins with is called main. */
export function axisWords(axis, rule) {
  return axis === rule ? "main" : AXIS_WORDS[axis];
}

/** One line below the picture: what its ink means. */
export function legendWords({ n, runs }) {
  const longest = runs.find((run) => run.n === n);
  const [window, bin] = [longest.medians, longest.low].map((pieces) => Math.round(n / pieces.length));
  if (window <= 1) return "Points: iterations. Dashed: median of all runs. ◄ median of the run.";
  const dots = bin > 1 ? `fastest and slowest of ${bin} outside it` : "iterations";
  return (
    `Line: median of ${window} iterations. Band: their middle half. Dots: ${dots}. Bars in the grey ` +
    "lanes: share beyond the axis. Dashed: median of all runs. ◄ median of the run."
  );
}

/** Own progress, counting answers that are still on their way. */
export function progressWords({ done, total, not_sure: notSure, mode }, pending) {
  if (mode === "revise") return "";
  const unsure = notSure ? `, ${notSure} not sure` : "";
  return `${Math.min(done + pending, total)} of ${total} done${unsure}`;
}

/** Instead of an item, if there is none. */
export function emptyWords({ done, total, not_sure: notSure, closed, end }, queued) {
  if (closed) return closed;
  if (queued) return "Saving your answers …";
  if (!total) return "Nothing is assigned to you yet.";
  if (end) return end;
  if (done < total && notSure) {
    return `You have been through everything; ${notSure} stay “not sure”. You can change them under My labels.`;
  }
  return "You have labelled everything assigned to you. Thank you!";
}

/** Whether answers are saved, or what is waited for. */
export function statusWords({ refusal, hindrance, queue, data, current, clock, strip }) {
  if (refusal) return refusal;
  const unsaved = `Not saved yet: ${queue.length}. ${keptWords(queue)}`;
  if (hindrance && queue.length) return `${hindrance} ${unsaved}`;
  if (queue.isWaitingLong) return unsaved;
  const told = strip.told && happenedWords(strip.told, queue.length > 0);
  if (strip.told && !strip.told.code) return told;
  if (current?.chosen) return `${capital(current.chosen)}. How sure are you? 1 a guess, 2 fairly sure, 3 certain`;
  if (current && clock.isAway) return "Paused: this time is not counted";
  if (data.mode === "practice") return "Practice: nothing is counted";
  if (told) return told;
  if (queue.length) return "Saving …";
  return data.done || data.ack ? "Saved" : "";
}

/** What the last press did. */
function happenedWords({ kind, code, answer }, isOnItsWay) {
  if (kind === "fast") return "Too fast: this item was not seen yet, so that press did not count.";
  if (kind === "nothing") return "Nothing left to undo.";
  if (kind === "answered") return `${code}: ${capital(answer)}, ${isOnItsWay ? "saving …" : "saved. U undoes."}`;
  return `${code} is back${answer ? `: you had said ${answer}` : ""}. ${isOnItsWay ? "Saving …" : "Taken back."}`;
}

/** The question, with the number of runs of the item where it asks for it. */
export function questionWords(question, nRuns) {
  return question.replace("{runs}", nRuns === null ? "" : (NUMBERS[nRuns] ?? String(nRuns))).replace("  ", " ");
}

function keptWords({ isForgotten, isStuck }) {
  if (isForgotten) return "Do not close or reload this window: it cannot keep them. Trying again …";
  return `Kept in this browser; trying again …${isStuck ? " If this stays, reload the page: nothing is lost." : ""}`;
}

function capital(words) {
  return words[0].toUpperCase() + words.slice(1);
}

/** What is left to say of answers on a page without an item. */
export function deliveryWords(queue) {
  if (!queue.length) return "";
  return queue.attempts > 1 || queue.isHeld ? `Not saved yet: ${queue.length}. ${keptWords(queue)}` : "Saving …";
}

/** Above the list of answers that are not saved. */
export function listedWords(n) {
  return n === 1 ? "This answer is not saved" : `These ${n} answers are not saved`;
}
