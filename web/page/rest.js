// What lies behind the 1,000 entries that a screen shows live: read page by page, as somebody comes to the end.
export const MOST = 1000;
const PAGE = 100, PAUSE = 5000;

export class Rest {
  #ask; #changed; #key = null; #version = 0; #state = null; #turn = 0; #isAsking = false; #again = null;
  /** `ask` gives a page, { entries, next }, of so many entries from a cursor on, or null; `changed` is called when more is there. */
  constructor(ask, changed) { [this.#ask, this.#changed] = [ask, changed]; }

  get isWhole() { return this.#state?.isWhole ?? false; }

  /** The live entries and those behind. `key` says what they are of, `version` changes where they change. */
  after(live, key, version) {
    if (key !== this.#key || live.length < MOST) {
      [this.#key, this.#state] = [key, null];
      this.#turn += 1;
      clearTimeout(this.#again);
      this.#again = null;
    } else if (version !== this.#version && this.#state) {
      // What changed before the end has moved what comes behind: it is read again, once in a while.
      this.#again ??= setTimeout(() => this.#readAgain(), PAUSE);
    }
    this.#version = version;
    if (!this.#state) return live;
    const shown = new Set(live.map(({ id }) => id));
    return [...live, ...this.#state.entries.filter(({ id }) => !shown.has(id))];
  }
  grow() {
    const state = this.#state;
    return this.#read(state?.isStale ? null : state, (state?.entries.length ?? 0) + PAGE);
  }

  #readAgain() {
    this.#again = this.#isAsking ? setTimeout(() => this.#readAgain(), PAUSE) : null;
    if (!this.#again) this.#read(null, this.isWhole ? Infinity : this.#state?.entries.length ?? 0);
  }

  /** Reads on from a state until there are so many entries. */
  async #read(from, wanted) {
    if (this.#isAsking || from?.isWhole) return;
    this.#isAsking = true;
    const turn = this.#turn;
    let state = from ?? { skipped: 0, entries: [], next: null, isWhole: false };
    while (state && turn === this.#turn && !state.isWhole && state.entries.length < wanted) state = await this.#page(state);
    this.#isAsking = false;
    // Another search may be shown by now.
    if (turn !== this.#turn) return;
    // A page that is refused leaves what is here. Its cursor may be at fault: the next one begins anew.
    if (state) this.#state = state;
    else if (this.#state) this.#state = { ...this.#state, isWhole: false, isStale: true };
    this.#changed();
  }
  async #page({ skipped, entries, next }) {
    const isShown = skipped < MOST;
    const page = await this.#ask({ limit: isShown ? MOST - skipped : PAGE, ...next === null ? {} : { cursor: next } });
    return page && { skipped: isShown ? skipped + page.entries.length : skipped, entries: isShown ? entries : [...entries, ...page.entries],
      next: page.next ?? null, isWhole: page.next == null };
  }
}
