// A drawing context that draws nothing and records every call with its state.

const LETTER = 0.56; // mean width of a letter, as a share of the size of the font

/** {context, calls}; a call is {name, args, clip, path, style}, `clip` the current rectangle or null. */
export function recorder() {
  const calls = [];
  let state = { clip: null, style: {} };
  const saved = [];
  let path = [];
  let rectangle = null;
  const effects = {
    save: () => saved.push({ clip: state.clip, style: { ...state.style } }),
    restore: () => (state = saved.pop()),
    beginPath: () => (path = []),
    moveTo: (x, y) => path.push([x, y]),
    lineTo: (x, y) => path.push([x, y]),
    rect: (x, y, w, h) => (rectangle = { x, y, w, h }),
    clip: () => (state.clip = rectangle),
  };
  const call = (name, args) => {
    if (name === "measureText") return { width: widthOf(args[0], state.style.font) };
    effects[name]?.(...args);
    const drawn = name === "moveTo" || name === "lineTo" ? [] : [...path]; // a path is seen when it is drawn
    calls.push({ name, args, clip: state.clip, path: drawn, style: { ...state.style } });
    return undefined;
  };
  const context = new Proxy({}, {
    get: (_, name) => (name in state.style ? state.style[name] : (...args) => call(name, args)),
    set: (_, name, value) => {
      state.style[name] = value;
      return true;
    },
  });
  return { context, calls, open: () => saved.length };
}

/** About the width of the text in a browser. */
function widthOf(words, font = "10px") {
  return words.length * LETTER * Number(/(\d+)px/.exec(font)[1]);
}

export function named(calls, name) {
  return calls.filter((call) => call.name === name);
}

export function texts(calls) {
  return named(calls, "fillText").map((call) => {
    const [words, at, y, room = Infinity] = call.args;
    const width = Math.min(widthOf(words, call.style.font), room);
    const left = { left: at, right: at - width, center: at - width / 2 }[call.style.textAlign];
    return { words, y, left, right: left + width };
  });
}

/** Every coordinate on the canvas. */
export function coordinates(calls) {
  return calls.flatMap(({ args }) => args.flat().filter((value) => typeof value === "number"));
}

export function isIn(box, { x, y, w, h }) {
  const slack = 1e-6;
  return x >= box.x - slack && y >= box.y - slack && x + w <= box.x + box.w + slack && y + h <= box.y + box.h + slack;
}

export function isSame(a, b) {
  return isIn(a, b) && isIn(b, a);
}
