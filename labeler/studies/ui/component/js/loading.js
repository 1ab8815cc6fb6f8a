// Loads the modules, markup and style of a component, retries until they are loaded, and shows a message if that takes
// long. This file is sent with the page, so it imports nothing.

export const SAY_AFTER_MS = 5000;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 8000;
const WORDS = "This part of the page has not loaded yet. Trying again … ";

/**
 * Create the function that mounts a component. It requests everything at once: `names` are the files under `base`,
 * which stands beside the page. `entry` is the file whose export mounts the component; `markup` and `style` are files
 * that export text.
 */
export function loader(base, names, entry, markup, style) {
  const at = (name) => import(new URL(`${base}/${name}`, document.baseURI).href);
  return starter(() => Promise.all(names.map(at)).then(async () => {
    const [module, html, css] = await Promise.all([entry, markup, style].map(at));
    return { default: module.default, content: `<style>${css.default}</style>${html.default}` };
  }));
}

/** Create the function that mounts a component, from a function that loads the entry module with its content. */
export function starter(load, wait = (ms) => new Promise((done) => setTimeout(done, ms))) {
  let module = null;
  const loaded = untilLoaded(load, wait).then((found) => {
    module = found;
  });
  return (component) => {
    const part = partOf(component.parentElement);
    if (module) return mount(module, component, part);
    let [end, isOver] = [null, false];
    wait(SAY_AFTER_MS).then(() => {
      if (!module && !isOver) say(part);
    });
    loaded.then(() => {
      if (!isOver) end = mount(module, component, part);
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

/** The element for the content. Streamlit calls the component again with the same parent when data change. */
function partOf(parent) {
  const old = parent.querySelector(".component");
  if (old) return old;
  const part = document.createElement("div");
  part.className = "component";
  parent.append(part);
  return part;
}

/** Insert markup and style together, so that nothing is drawn without style; then start the component. */
function mount(module, component, part) {
  if (!part.dataset.isMounted) {
    part.innerHTML = module.content;
    part.dataset.isMounted = "yes";
  }
  return module.default(component);
}

/** A button to reload the page, because some browsers never request a failed file again. */
function say(part) {
  const button = document.createElement("button");
  button.textContent = "Reload the page";
  button.addEventListener("click", () => window.location.reload());
  part.replaceChildren(WORDS, button);
}
