// A stopwatch inside the page: key press -> next item painted, and -> acknowledged, by the page's own clock.
//
// Painted: from the key press (the event's own time stamp) to a message posted in the first animation frame after the
// next item was drawn; that message is handled once the frame has been handed over for display.
// Both kinds of page are timed alike; they differ in what tells which item is drawn and which is saved:
// the review component says so in window.__review; the title of a plain page's chart (SVG) says "Item CODE", and
// so does its heading once the server has the answer before.
(() => {
  const KEYS = new Set(["s", "d"]);
  const LIMIT_MS = 30000;
  const times = [];
  let press = null;
  let drawing = null;
  let painted = null; // { code, at }
  let saved = null; // the code of the item that is asked for once everything before it is saved
  let waiting = null;

  const afterFrame = (then) =>
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => then(performance.now());
      channel.port2.postMessage(null);
    });

  const settle = () => {
    if (press && press.painted !== undefined && press.acked !== undefined) {
      times.push(press);
      press = null;
    }
    if (waiting && painted && !press) {
      const { least, resolve } = waiting;
      waiting = null;
      setTimeout(() => resolve(painted.code), Math.max(0, painted.at + least - performance.now()));
    }
  };

  const drew = (code) => {
    if (!code || code === drawing) return;
    drawing = code;
    afterFrame((at) => {
      painted = { code, at };
      if (press && code !== press.code) press.painted ??= at - press.at;
      settle();
    });
  };

  const acknowledged = () => {
    if (!press || press.acked !== undefined) return;
    press.acked = performance.now() - press.at;
    settle();
  };

  addEventListener(
    "keydown",
    (event) => {
      if (KEYS.has(event.key) && !event.repeat) press = { at: event.timeStamp, code: painted?.code, queued: false };
    },
    { capture: true },
  );

  addEventListener("keydown", (event) => {
    if (KEYS.has(event.key) && press) press.handled ??= performance.now() - press.at; // the page's own listeners ran
  });

  const request = window.fetch;
  window.fetch = async (...asked) => { // the request with the answer: when it was sent and answered, and its event id
    const own = String(asked[0]).endsWith("api/answers") ? press : null;
    if (own) {
      own.id ??= JSON.parse(asked[1].body).answers?.at(-1).event_id;
      own.sent ??= performance.now() - own.at;
    }
    const response = await request(...asked);
    if (own) own.received ??= performance.now() - own.at;
    return response;
  };

  let review;
  Object.defineProperty(window, "__review", {
    configurable: true,
    get: () => review,
    set: (value) => {
      review = value;
      drew(value.code);
      if (press && value.pending > 0) press.queued = true;
      if (press?.queued && value.pending === 0) acknowledged();
    },
  });

  const itemIn = (selector) => {
    const words = Array.from(document.querySelectorAll(selector), (node) => node.textContent);
    return words.find((text) => text.startsWith("Item "))?.slice(5) ?? null;
  };

  new MutationObserver(() => {
    drew(itemIn("svg .role-title-text text"));
    const code = itemIn("h3");
    if (saved && code && code !== saved) acknowledged();
    saved = code ?? saved;
  }).observe(document, { subtree: true, childList: true, characterData: true });

  window.__probe = {
    times,
    firstPaint: () => painted.at,
    /** The code on the screen, once it has been there for `least` ms and everything before is saved. */
    ready: (least) =>
      new Promise((resolve, reject) => {
        waiting = { least, resolve };
        setTimeout(() => reject(new Error(`nothing new for ${LIMIT_MS} ms`)), LIMIT_MS); // no matter once resolved
        settle();
      }),
  };
})();
