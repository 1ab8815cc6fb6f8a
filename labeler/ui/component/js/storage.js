// What the browser keeps of a reviewer between two page loads. Signing out clears all but answers that are not saved.

/** What the browser keeps of this window; one that forgets where it is told to keep nothing. */
export function ofWindow() {
  return either(() => window.sessionStorage, memory);
}

/** What the browser keeps for all its windows, also when they are closed; where it keeps nothing, of this window. */
export function ofBrowser() {
  return either(() => window.localStorage, ofWindow);
}

function either(get, otherwise) {
  try {
    return get() ?? otherwise();
  } catch {
    return otherwise(); // the browser forbids it
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
    key: (number) => [...values.keys()][number] ?? null,
    get length() {
      return values.size;
    },
  };
}

/** The names in a storage that begin like this. */
export function keysOf(storage, prefix) {
  try {
    const keys = Array.from({ length: storage.length }, (_, number) => storage.key(number));
    return keys.filter((key) => key?.startsWith(prefix));
  } catch {
    return [];
  }
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

export const OWNER = "labeler-owner"; // whose answers this window keeps

/** The answers that an earlier version of the application kept in this window; from now on they are nowhere else. */
export function adoptEarlier(storage) {
  return keysOf(storage, "labeler-answers-").flatMap((key) => {
    const events = stored(storage, key, []);
    store(storage, key, null);
    return Array.isArray(events) ? events.filter((event) => typeof event?.event_id === "string") : [];
  });
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
