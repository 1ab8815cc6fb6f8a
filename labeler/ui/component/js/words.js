// What the screen says.

export const AXES = ["core", "pooled", "full"];

const AXIS_WORDS = { core: "main range", pooled: "0.5 to 99.5 %", full: "full range" };

export function axisWords(axis) {
  return AXIS_WORDS[axis];
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
export function statusWords({ refusal, hindrance, queue, data, current, clock }) {
  if (refusal) return refusal;
  const unsaved = `Not saved yet: ${queue.length}. ${keptWords(queue)}`;
  if (hindrance && queue.length) return `${hindrance} ${unsaved}`;
  if (queue.isWaitingLong) return unsaved;
  if (current?.chosen) return `${capital(current.chosen)}. How sure are you? 1 a guess, 2 fairly sure, 3 certain`;
  if (current && clock.isAway) return "Paused: this time is not counted";
  if (queue.length) return "Saving …";
  if (data.mode === "practice") return "Practice: nothing is counted";
  return data.done || data.ack ? "Saved" : "";
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
