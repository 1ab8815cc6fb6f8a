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
    this.storage.setItem(this.key(code), JSON.stringify(said));
  }

  drop(code) {
    this.storage.removeItem(this.key(code));
  }
}
