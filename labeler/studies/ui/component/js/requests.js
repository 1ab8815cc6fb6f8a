// The requests of the component to the server: answers, pictures of the next items, and the state.

const BASE = "api"; // beside the page, and so under the path of the study
const PROTOCOL = "1"; // of requests, replies and kept answers; the server asks a page with another number to reload
const TIMEOUT_MS = 20000;
const ALWAYS = { "X-Labeler-Protocol": PROTOCOL };

export class Requests {
  /** token: for the header; owner: an opaque id of study and reviewer; fetch: like window.fetch. */
  constructor({ token, reviewer }, fetch = (...request) => window.fetch(...request)) {
    Object.assign(this, { token, owner: reviewer, fetch });
  }

  /** Send answers or a check. Resolves to the reply, or to {failed: true, message, isSignedOut}; never rejects. */
  async answers(body) {
    const text = JSON.stringify(body);
    const first = await this.#post("answers", text);
    const again = first.status === 403 && (await this.#renew()) ? await this.#post("answers", text) : first;
    return replyOf(again);
  }

  /** Send a coordinator's decision; resolves and fails like `answers`. */
  async decision(body) {
    return replyOf(await this.#post("decisions", JSON.stringify(body)));
  }

  /** The pictures of items: a list of {code, panels}, or null if the server did not reply. */
  async items(codes) {
    const query = new URLSearchParams(codes.map((code) => ["code", code]));
    const { status, content } = await this.#ask(`items?${query}`);
    return status === 200 ? content.items : null;
  }

  /** The state of study and reviewer; fails like `answers`. */
  async state() {
    const asked = await this.#ask("state");
    if (asked.status === 200 && asked.content.reviewer !== this.owner) {
      return { failed: true, message: "", isSignedOut: true }; // somebody else is signed in now
    }
    return replyOf(asked);
  }

  /** Take the token of a newer session of the same reviewer; returns whether there is one. */
  async #renew() {
    const { token } = await this.state();
    const isNew = Boolean(token) && token !== this.token;
    if (isNew) this.token = token;
    return isNew;
  }

  #post(path, body) {
    const headers = { ...ALWAYS, "Content-Type": "application/json", "X-Labeler-Token": this.token };
    return this.#ask(path, { method: "POST", body, headers, keepalive: true }); // also if the window is closed
  }

  async #ask(path, options = {}) {
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const always = { headers: ALWAYS, cache: "no-store", redirect: "error", signal };
      const response = await this.fetch(`${BASE}/${path}`, { ...always, ...options });
      return { status: response.status, content: await response.json() };
    } catch {
      return { status: 0, content: {} }; // no connection, or no reply in time
    }
  }
}

function replyOf({ status, content }) {
  if (status === 200) return content;
  return { failed: true, message: content.message ?? "", isSignedOut: status === 401 || status === 403 };
}
