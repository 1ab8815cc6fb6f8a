// Dark or light surroundings for the labelling page: as the reviewer chose in this browser, or as the system asks.
// The picture stays white.

import { ofBrowser, store, stored } from "./storage.js";

const KEY = "labeler-surroundings";

const SYSTEM = "(prefers-color-scheme: dark)";

/** Call `apply` with whether the system asks for dark surroundings, now and after each change. */
function followed(apply, signal) {
  const system = matchMedia(SYSTEM);
  system.addEventListener("change", () => apply(system.matches), { signal });
  apply(system.matches);
}

/** Let a component be dark or light as the system asks, like the page around it. */
export function followSystem(root, signal) {
  followed((isDark) => root.classList.toggle("dark", isDark), signal);
}

export class Surroundings {
  /** root: the component; button: switches between light and dark. */
  constructor(root, button, signal) {
    this.root = root;
    this.button = button;
    button.addEventListener("click", () => this.#choose(!this.isDark), { signal });
    followed((isDark) => this.#apply(stored(ofBrowser(), KEY, isDark ? "dark" : "light") === "dark"), signal);
  }

  #choose(isDark) {
    store(ofBrowser(), KEY, isDark ? "dark" : "light");
    this.#apply(isDark);
  }

  #apply(isDark) {
    this.isDark = isDark;
    this.root.classList.toggle("dark", isDark);
    this.button.setAttribute("aria-pressed", String(isDark));
    document.documentElement.classList.toggle("dark-surroundings", isDark); // the style is in ../page.css
    document.documentElement.classList.toggle("light-surroundings", !isDark);
  }

  /** The other pages are as the system asks. */
  end() {
    document.documentElement.classList.remove("dark-surroundings", "light-surroundings");
  }
}
