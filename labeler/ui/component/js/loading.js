// Loads the modules of a component, retries until they are loaded, and shows a message if that takes long. This file
// is sent with the page, so it imports nothing.

export const SAY_AFTER_MS = 5000;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 8000;
const WORDS = "This part of the page has not loaded yet. Trying again …";

/** Create the function that mounts a component: requests all `modules` at once, then calls the export of `entry`. */
export function loader(modules, entry) {
  const at = (path) => import(new URL(path, window.location.origin).href);
  return starter(() => Promise.all(modules.map(at)).then(() => at(entry)));
}

/** The same, from a function that loads the entry module. */
export function starter(load, wait = (ms) => new Promise((done) => setTimeout(done, ms))) {
  let module = null;
  const loaded = untilLoaded(load, wait).then((found) => {
    module = found;
  });
  return (component) => {
    if (module) return module.default(component);
    let [end, isOver] = [null, false];
    wait(SAY_AFTER_MS).then(() => {
      if (!module && !isOver) say(component.parentElement.querySelector(".message"));
    });
    loaded.then(() => {
      if (!isOver) end = module.default(component);
    });
    return () => {
      isOver = true;
      end?.();
    };
  };
}

function untilLoaded(load, wait, pause = FIRST_WAIT_MS) {
  const again = () => untilLoaded(load, wait, Math.min(2 * pause, MAX_WAIT_MS));
  return load().catch(() => wait(pause).then(again));
}

/** A button to reload the page, because some browsers never request a failed file again. */
function say(part) {
  const button = document.createElement("button");
  button.textContent = "Reload the page";
  button.addEventListener("click", () => window.location.reload());
  (part.querySelector?.(".words") ?? part).replaceChildren(`${WORDS} `, button);
  part.hidden = false;
}
