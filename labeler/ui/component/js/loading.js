// Loads the modules of a component, again until they are there, and says so where that takes long. Its text is sent
// with the page itself, so it imports nothing.

export const SAY_AFTER_MS = 5000;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 8000;
const WORDS = "This part of the page has not loaded yet. Trying again …";

/** What mounts a component: `modules` are asked for at once, and what `entry` exports is called. */
export function loader(modules, entry) {
  const at = (path) => import(new URL(path, window.location.origin).href);
  return starter(() => Promise.all(modules.map(at)).then(() => at(entry)));
}

/** The same, from what loads the entry module. */
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

/** Some browsers never ask again for a file that failed: a new page does. */
function say(part) {
  const button = document.createElement("button");
  button.textContent = "Reload the page";
  button.addEventListener("click", () => window.location.reload());
  (part.querySelector?.(".words") ?? part).replaceChildren(`${WORDS} `, button);
  part.hidden = false;
}
