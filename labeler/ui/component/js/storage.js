// What the browser keeps of a reviewer between two page loads; signing out clears it.

/** What the browser keeps of this window; one that forgets where it is told to keep nothing. */
export function ofWindow() {
  try {
    return window.sessionStorage;
  } catch {
    return memory();
  }
}

/** A storage that forgets: for practice, which is not counted. */
export function memory() {
  const values = new Map();
  return {
    forgets: true,
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => values.set(key, value),
    removeItem: (key) => values.delete(key),
  };
}

/** Read JSON from a storage; `otherwise` if there is none, or something else was written there. */
export function stored(storage, key, otherwise) {
  try {
    return JSON.parse(storage.getItem(key)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** Write JSON to a storage, or remove it where there is nothing; whether it is kept. A full one is no reason to end. */
export function store(storage, key, value) {
  try {
    if (value === null) storage.removeItem(key);
    else storage.setItem(key, JSON.stringify(value));
    return !storage.forgets;
  } catch {
    return false; // what was to be kept across a reload lives in this window only
  }
}

/** Flag, comment and confidence of items that are not answered yet. */
export class Drafts {
  constructor(storage, reviewer) {
    this.storage = storage;
    this.key = (code) => `labeler-draft-${reviewer}-${code}`;
  }

  get(code) {
    return stored(this.storage, this.key(code), null);
  }

  set(code, said) {
    store(this.storage, this.key(code), said);
  }

  drop(code) {
    store(this.storage, this.key(code), null);
  }
}
