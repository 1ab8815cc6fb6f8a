// Dark or light surroundings for the labelling page: as the reviewer chose in this browser, or as the system asks.
// The picture stays white.

import { ofBrowser, store, stored } from "./storage.js";

const KEY = "labeler-surroundings";

export class Surroundings {
  /** root: the component; button: switches between light and dark. */
  constructor(root, button, signal) {
    this.root = root;
    this.button = button;
    button.addEventListener("click", () => this.#choose(!this.isDark), { signal });
    const ofSystem = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    this.#apply(stored(ofBrowser(), KEY, ofSystem) === "dark");
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
