// The texts on the labelling screen.

import { answerWords, isNear } from "./marks.js";

const NUMBERS = (
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen " +
  "eighteen nineteen twenty"
).split(" ");
const AXIS_WORDS = {
  close: "close", "close-2": "level 2", "close-3": "level 3", pooled: "0.5 to 99.5 %", full: "all",
};

/** The name of the current axis; the axis that the study starts with is called main. */
export function axisWords(axis, { axes, rule }) {
  if (axis === rule) return "main";
  return axis === "close" && "close-2" in axes ? "lowest level" : AXIS_WORDS[axis];
}

/** The legend below the picture, in one line of at most `room` letters if possible. */
export function legendWords({ n, runs }, room = Infinity) {
  const longest = runs.find((run) => run.n === n);
  const [window, bin] = [longest.medians, longest.low].map((pieces) => Math.round(n / pieces.length));
  if (window <= 1) return "Points: iterations. Dashed: median of all runs. ◄ median of the run.";
  const dots = bin > 1 ? `highest and lowest of ${bin}` : "iterations";
  const long =
    `Line: median of ${window} iterations. Band: their middle half. Dots: ${dots}. Bars in the grey lanes: share ` +
    "beyond the axis. Dashed: median of all runs. ◄ median of the run.";
  const short =
    `Line: median of ${window}. Band: middle half. Dots: ${dots}. Lanes: share beyond the axis. Dashed: all runs. ` +
    "◄ median.";
  return long.length <= room ? long : short;
}

/** The code of an item, and the facts that the study shows beside the picture. */
export function itemWords({ code, facts }) {
  return [`Item ${code}`, ...facts.map(([name, value]) => `${name}: ${value}`)].join(" · ");
}

/** The reviewer's progress, including answers that are not saved yet, and the time left at `seconds` per label. */
export function progressWords({ done, total, not_sure: notSure, mode, seconds }, pending) {
  if (mode === "revise") return "";
  const n = Math.min(done + pending, total);
  const unsure = notSure ? `, ${notSure} not sure` : "";
  const left = seconds && n < total ? `, about ${Math.max(1, Math.round(((total - n) * seconds) / 60))} min left` : "";
  return `${n} of ${total} done${unsure}${left}`;
}

/** The text to show if there is no item. */
export function emptyWords({ done, total, not_sure: notSure, closed, end }, queued, isWaitingLong = false) {
  if (closed) return closed;
  if (queued && isWaitingLong) {
    return "You have labelled every item that this browser has loaded. More items come when your answers are saved.";
  }
  if (queued) return "Saving your answers …";
  if (!total) return "Nothing is assigned to you yet.";
  if (end) return end;
  if (done < total && notSure) {
    return `You have seen every item. Still “not sure”: ${notSure}. You can change these answers under My labels.`;
  }
  return "You have labelled everything assigned to you. Thank you!";
}

/** The status line: whether answers are saved, or what the page is waiting for. */
export function statusWords({
  refusal, hindrance, queue, data, current, clock, strip, sureness = ["1", "2", "3"], isTouch = false,
}) {
  if (refusal) return refusal;
  const unsaved = `Not saved yet: ${queue.length}. ${keptWords(queue)}`;
  if (hindrance && queue.length) return `${hindrance} ${unsaved}`;
  if (queue.isWaitingLong) return unsaved;
  const told = strip.told && happenedWords(strip.told, queue.length > 0, isTouch);
  if (strip.told && !strip.told.code) return told;
  if (current?.chosen) {
    const [one, two, three] = sureness; // keys
    const chosen = capital(answerWords(current.chosen));
    return `${chosen}. How sure are you? ${one} a guess, ${two} fairly sure, ${three} certain`;
  }
  if (current && clock.isAway) return "Paused: this time is not counted";
  if (data.mode === "practice") return "Practice: your answers are not counted";
  if (told) return told;
  if (queue.length) return "Saving …";
  return data.done ? "Saved" : "";
}

/** What the last key press did. */
function happenedWords({ kind, code, answer, words }, isOnItsWay, isTouch) {
  if (kind === "unfinished") return words;
  if (kind === "fast") return "The key press did not count, because it came before you could see the item.";
  if (kind === "nothing") return "There is no answer to undo.";
  if (kind === "answered") {
    const saved = isTouch ? "saved." : "saved. Press U to undo."; // on a touch screen, the button Undo says it
    return `${code}: ${capital(answerWords(answer))}, ${isOnItsWay ? "saving …" : saved}`;
  }
  const earlier = answer ? ` (${answerWords(answer)})` : "";
  return `${isOnItsWay ? "Undoing" : "Undone"}: your answer to ${code}${earlier}.`;
}

/** The question; `{runs}` is replaced by the item's number of runs, or removed if the number is not known. */
export function questionWords(question, nRuns) {
  return question.replace("{runs}", nRuns === null ? "" : (NUMBERS[nRuns] ?? String(nRuns))).replace("  ", " ");
}

/** The result of a practice round: how often the answers match the items, or the labels of people. */
export function roundWords(items, given, people) {
  const over = "The practice round is over.";
  if (!items.some(({ labels }) => labels)) {
    const nRight = items.filter((item) => isRight(item, given[item.code])).length;
    const said = `${over} ${nRight} of your ${items.length} answers match the way the items were generated.`;
    return 2 * nRight > items.length ? said : `${said} Read the explanations, and practise once more.`;
  }
  const labelled = items.filter(({ code }) => given[code] !== "not sure");
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
  const nAll = sum(labelled.flatMap(({ labels }) => Object.values(labels)));
  if (!nAll) return `${over} You were not sure about any item.`;
  const nEqual = sum(labelled.map(({ code, labels }) => labels[given[code]] ?? 0));
  const share = Math.round((100 * nEqual) / nAll);
  const equal = `Your answers equal ${nEqual} of the ${nAll} labels that people gave these items (${share} %).`;
  return [over, equal, people].filter(Boolean).join(" ");
}

/** The sign and the word for an answer to a practice item: right, different, or nothing if there is no right answer. */
export function signWords(item, answer) {
  if (answer === "not sure" || (!item.truth && !item.right)) return "";
  return isRight(item, answer) ? "✓ Right. " : "✗ Different. ";
}

/** Whether an answer is the known answer; marks may be a little off. */
function isRight({ right, truth, panels }, answer) {
  return truth ? isNear(answer, truth, panels[0].n) : right !== null && answer === right;
}

function keptWords({ isForgotten, isStuck }) {
  if (isForgotten) return "Do not close or reload this window, or these answers are lost. Trying again …";
  const isOffline = globalThis.navigator?.onLine === false; // then a reloaded page would be lost
  const advice = isStuck && !isOffline ? " If this does not change, reload the page: nothing is lost." : "";
  return `Kept in this browser; trying again …${advice}`;
}

function capital(words) {
  return words[0].toUpperCase() + words.slice(1);
}

/** The status of unsaved answers on a page without an item. */
export function deliveryWords(queue) {
  if (!queue.length) return "";
  return queue.attempts > 1 || queue.isHeld ? `Not saved yet: ${queue.length}. ${keptWords(queue)}` : "Saving …";
}

/** The heading above the list of answers that are not saved. */
export function listedWords(n) {
  return n === 1 ? "This answer is not saved" : `These ${n} answers are not saved`;
}
