// What the browser keeps of a reviewer between two page loads; signing out clears it.

/** A storage that forgets: for practice, which is not counted. */
export function memory() {
  const values = new Map();
  return {
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

/** Write JSON to a storage, or remove it where there is nothing. A full or forbidden storage is no reason to stop. */
export function store(storage, key, value) {
  try {
    if (value === null) storage.removeItem(key);
    else storage.setItem(key, JSON.stringify(value));
  } catch {
    // what was to be kept across a reload lives in this window only
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
