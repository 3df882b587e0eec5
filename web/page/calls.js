// Calls of the gateway, and the stream of a screen's revisions.
import { trouble } from "./dom.js";

export function sentence({ error, parameters = {} }) {
  if (error === "ContainerNotFound") return `There is no “${parameters.container}” here.`;
  const words = parameters.reason ?? Object.entries(parameters).map(([name, value]) => `${name} ${JSON.stringify(value)}`).join(", ");
  return `${error.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase()}: ${words}`;
}

const PATIENCE = 20000;
/** What the gateway answers; a failure's message is for people. */
export async function ask(path, options = {}) {
  try {
    const response = await fetch(path, { ...options, signal: AbortSignal.timeout(PATIENCE) });
    return { ok: response.ok, reply: await response.json() };
  } catch (problem) {
    throw new Error(problem.name === "TimeoutError" ? `The gateway has not answered for ${PATIENCE / 1000} s. Try again.`
      : "The gateway does not answer. Try again.");
  }
}
const send = (path, parameters) => ask(path, {
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(parameters) });

let queue = Promise.resolve();
/**
 * Calls the gateway, one call after the other; resolves with the reply, or with null after saying what is wrong. Nothing is said
 * of an error of the name `quiet`, or with true of any.
 */
export function call(name, parameters, quiet = false) {
  queue = queue.then(async () => {
    const { ok, reply } = await send(`/-/call/${name}`, parameters);
    if (ok) return reply;
    if (quiet !== true && quiet !== reply.error) trouble(sentence(reply));
    return null;
  }).catch(problem => { if (quiet !== true) trouble(problem.message); return null; });
  return queue;
}

const read = new Map();
/** Markdown as a tree; null where it can't be had. */
export function prose(text) {
  if (!read.has(text)) {
    if (read.size > 100) read.clear();
    // What failed is asked again the next time.
    read.set(text, send("/-/prose", { text }).then(({ ok, reply }) => ok ? reply.tree : (read.delete(text), null))
      .catch(problem => { read.delete(text); trouble(problem.message); return null; }));
  }
  return read.get(text);
}

/**
 * A screen's stream, which is opened again whenever it breaks. `asks` says what to open, `heard` gets what comes.
 * While nobody sees the page it is closed: a browser has six connections to a gateway, for all tabs together.
 */
export class Stream {
  #source = null; #delay = 500; #silence = 0; #asks; #heard; #resumes = false;
  hasSlept = false; // Whether the page was hidden since the last revision.
  constructor(asks, heard) {
    [this.#asks, this.#heard] = [asks, heard];
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) { if (this.#source === null) this.open(this.#resumes); } else if (this.#source) this.#sleep(true);
    });
  }

  #sleep(resumes) {
    this.#source?.close();
    clearTimeout(this.#silence);
    [this.#source, this.#resumes, this.hasSlept] = [null, resumes, true];
  }
  open(resumes) {
    if (document.hidden) return this.#sleep(resumes);
    this.#source?.close();
    const source = this.#source = new EventSource(`/-/live?${new URLSearchParams(this.#asks(resumes))}`);
    const on = (name, act) => source.addEventListener(name, event => { if (source === this.#source) act(event.data && JSON.parse(event.data)); });
    on("hello", hello => this.#heard.hello(hello));
    on("revision", reply => { this.#alive(); this.#delay = 500; this.#heard.revision(reply); this.hasSlept = false; });
    on("alive", () => this.#alive());
    on("refused", problem => { this.#heard.refused(problem); this.#lost(sentence(problem), true); });
    source.onerror = () => { if (source === this.#source) this.#lost("the gateway does not answer"); };
    this.#alive();
  }
  #alive() {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#lost("nothing was heard for a while"), 40000);
  }
  #lost(reason, isRefused = false) {
    this.#source.close();
    clearTimeout(this.#silence);
    this.#heard.lost(reason, isRefused);
    this.#silence = setTimeout(() => this.open(true), this.#delay);
    this.#delay = Math.min(this.#delay * 2, 10000);
  }
}
