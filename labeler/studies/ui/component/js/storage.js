// The data of a reviewer that the browser keeps between page loads. Signing out deletes all but unsaved answers.

/** The storage of this window; in memory if the browser forbids storage. */
export function ofWindow() {
  return either(() => window.sessionStorage, memory);
}

/** The storage of all windows, which outlives them; the storage of this window if the browser forbids it. */
export function ofBrowser() {
  return either(() => window.localStorage, ofWindow);
}

function either(get, otherwise) {
  try {
    return get() ?? otherwise();
  } catch {
    return otherwise(); // the browser forbids storage
  }
}

/** A storage in memory, for practice rounds and for browsers that forbid storage. */
export function memory() {
  const values = new Map();
  return {
    forgets: true,
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => values.set(key, value),
    removeItem: (key) => values.delete(key),
    key: (number) => [...values.keys()][number] ?? null,
    get length() {
      return values.size;
    },
  };
}

/** The keys in a storage that start with `prefix`. */
export function keysOf(storage, prefix) {
  try {
    const keys = Array.from({ length: storage.length }, (_, number) => storage.key(number));
    return keys.filter((key) => key?.startsWith(prefix));
  } catch {
    return [];
  }
}

/** Read JSON from a storage; `otherwise` if the key is missing or its value is not JSON. */
export function stored(storage, key, otherwise) {
  try {
    return JSON.parse(storage.getItem(key)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** Write JSON to a storage, or remove the key if `value` is null; returns whether the storage keeps it. */
export function store(storage, key, value) {
  try {
    if (value === null) storage.removeItem(key);
    else storage.setItem(key, JSON.stringify(value));
    return !storage.forgets;
  } catch {
    return false; // a full storage is not an error: the value lasts until this window is reloaded
  }
}

export const OWNER = "labeler-owner"; // key: the owner of the answers that this window keeps

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
