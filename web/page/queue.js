// What a moderator sees: the comments that wait, and what to do about them.
import { $, arrange, make } from "./dom.js";
import { pathOf } from "./address.js";
import { call } from "./calls.js";
import { ago, nameOf } from "./values.js";

const PAUSE = 2000, MOST = 100, MOST_LATER = 1000, MOST_PAGES = 10, MOST_REASON = 500;

export class Queue {
  #app; #asked = -PAUSE; #again = 0; #rows = new Map();
  constructor(app) {
    this.#app = app;
    $("open-queue").onclick = () => {
      $("queue").hidden = !$("queue").hidden;
      $("open-queue").ariaExpanded = String(!$("queue").hidden);
      if (!$("queue").hidden) $("queue-title").focus();
    };
  }

  /** After a revision: looks again, once in a while. */
  heard() {
    const { root, moderates } = this.#app;
    if (!moderates || !root.takes("comments")) return;
    clearTimeout(this.#again);
    this.#again = setTimeout(() => this.#ask(), Math.max(0, this.#asked + PAUSE - performance.now()));
  }
  async #ask() {
    this.#asked = performance.now();
    const { root } = this.#app, component = root.first("comments")?.name;
    const found = component && await waiting({ container: root.container, component }, MOST);
    if (!found) return;
    const comments = found.comments.slice(0, MOST), { total } = found;
    $("open-queue").hidden = total === 0 && $("queue").hidden;
    $("open-queue").textContent = `Waiting (${total.toLocaleString()})`;
    $("queue-title").textContent = total ? "Comments that wait" : "No comment waits";
    const present = new Set(comments.map(({ comment }) => comment.id));
    for (const id of this.#rows.keys()) if (!present.has(id)) this.#rows.delete(id);
    arrange($("waiting"), comments.map(({ item, comment }) => {
      // A row is about the text that it shows: another text has another row.
      const version = versionOf(comment);
      if (this.#rows.get(comment.id)?.version !== version) {
        this.#rows.set(comment.id, { version, element: this.#row(item, comment, component) });
      }
      return this.#rows.get(comment.id).element;
    }));
  }
  #row(item, comment, component) {
    const { container, title } = this.#app.root;
    const about = { container, component, comment: comment.id };
    const approve = make("button", { className: "button main", type: "button", textContent: "Approve" });
    approve.onclick = () => this.#decide({ ...about, state: "shown", seen: comment.edited ?? comment.created });
    return make("li", { className: "item" }, make("div", {}, make("bdi", { className: "who", textContent: nameOf(comment.author, this.#app.actor) }),
      ` on `, make("a", { href: pathOf(container, item ?? null), textContent: item ? this.#app.titles.get(item) ?? item : title, dir: "auto" }),
      ` ${ago(comment.created)}`),
      make("p", { className: "text", textContent: comment.text ?? "", dir: "auto" }),
      make("div", { className: "deciding" }, approve, ...removal(reason => this.#decide({ ...about, state: "removed", reason }))));
  }
  /** Decides on a comment; `seen`, when the text was written that the moderator read, keeps another text from being approved. */
  async #decide(decision) {
    await call("Moderate", decision);
    await this.#ask();
  }
}

const versionOf = ({ text, edited }) => JSON.stringify([text, edited]);

/** The comments that wait, page by page until there are `enough`: a page may be short, or empty, with more behind it. */
async function waiting(about, enough) {
  const comments = [];
  let next, total = 0;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const reply = await call("Pending", { ...about, ...next == null ? { limit: MOST } : { limit: MOST_LATER, cursor: next } }, true);
    if (!reply) return null;
    comments.push(...reply.comments);
    ({ next, total } = reply);
    if (next == null || comments.length >= enough) break;
  }
  return { comments, total };
}

/** A button, which asks for a reason before it removes. */
export function removal(act) {
  const open = make("button", { className: "button", type: "button", textContent: "Remove…" });
  const reason = make("input", { type: "text", maxLength: MOST_REASON, placeholder: "Why? Its author reads it", dir: "auto", "aria-label": "Why it is removed" });
  const form = make("form", { className: "row", hidden: true }, reason, make("button", { className: "button", type: "submit", textContent: "Remove" }));
  open.onclick = () => { form.hidden = !form.hidden; if (!form.hidden) reason.focus(); };
  form.onsubmit = event => {
    event.preventDefault();
    act(reason.value.trim() || undefined);
    form.hidden = true;
  };
  return [open, form];
}
