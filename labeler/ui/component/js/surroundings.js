// Dark surroundings for the labelling page, if the reviewer chose them in this browser. The picture stays white.

import { ofBrowser, store, stored } from "./storage.js";

const KEY = "labeler-surroundings";

export class Surroundings {
  /** root: the component; button: switches between light and dark. */
  constructor(root, button, signal) {
    this.root = root;
    this.button = button;
    button.addEventListener("click", () => this.#choose(!this.isDark), { signal });
    this.#apply(stored(ofBrowser(), KEY, "light") === "dark");
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
  }

  /** The other pages stay light. */
  end() {
    document.documentElement.classList.remove("dark-surroundings");
  }
}
