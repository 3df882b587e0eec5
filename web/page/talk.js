// Votes and comments on what is in focus: an item, or the container.
import { $, arrange, make, plural } from "./dom.js";
import { call } from "./calls.js";
import { makeVote, starsOf } from "./votes.js";
import { ago, momentOf, nameOf } from "./values.js";
import { STEP } from "./lists.js";
import { MOST, Rest } from "./rest.js";
import { removal } from "./queue.js";

export class Talk {
  #app; #written = new Map(); #reply = null; #opener = null; #vote; #rest;
  #post = null; // A post that is sent again keeps its id: so it is never there twice.
  constructor(app) {
    this.#app = app;
    this.#vote = makeVote("the focus", () => this.#about("votes"));
    $("vote").append(this.#vote.element);
    $("open-talk").onclick = () => { app.setFocus(null); this.open($("open-talk")); };
    $("close-talk").onclick = () => this.close();
    $("whole").onclick = event => app.isItem ? app.leave(event) : app.setFocus(null);
    $("no-reply").onclick = () => this.setReply(null);
    $("older").onclick = () => {
      const list = app.root.thread;
      if (list.entries.length >= MOST) this.#rest.grow();
      else app.work("Resize", { component: list.component, limit: Math.min(MOST, Math.max(STEP, 2 * list.entries.length)) });
    };
    this.#rest = new Rest(page => call("Thread", { ...this.#about("comments"), ...page })
      .then(reply => reply && { entries: reply.comments, next: reply.next }), () => this.draw());
    $("text").oninput = () => limit($("text"), app.root.takes("comments"));
    $("compose").onsubmit = event => { event.preventDefault(); this.#send(); };
    document.addEventListener("keydown", event => { if (event.key === "Escape" && this.isOver) this.close(); });
  }

  get isOver() { return document.body.classList.contains("talking"); }
  #about(kind) {
    const { root, focus } = this.#app;
    return { container: root.container, component: root.first(kind)?.name, ...focus === null ? {} : { item: focus } };
  }
  async #send() {
    const text = $("text").value.trim();
    const parent = this.#reply ? { container: this.#app.root.container, component: this.#app.root.first("comments")?.name, parent: this.#reply.id }
      : this.#about("comments");
    if (!text) return;
    const content = JSON.stringify([text, parent]);
    if (this.#post?.content !== content) {
      // It begins with the time, since ids that follow each other are cheapest to store.
      const random = [...crypto.getRandomValues(new Uint8Array(10))].map(byte => byte.toString(16).padStart(2, "0")).join("");
      const id = Date.now().toString(16).padStart(12, "0") + random;
      this.#post = { content, id };
    }
    if (!await call("Post", { ...parent, text, id: this.#post.id })) return;
    this.#post = null;
    $("text").value = "";
    this.setReply(null);
  }
  setReply(comment) {
    this.#reply = comment;
    $("about").textContent = comment ? `Your reply to ${comment.author}` : "Your comment";
    $("no-reply").hidden = !comment;
    if (comment) $("text").focus();
  }

  /** Brings it over the list where it does not stand beside it. */
  open(from) {
    if (getComputedStyle($("close-talk")).display === "none") return;
    this.#opener = from;
    document.body.classList.add("talking");
    document.querySelector("main").inert = $("beside").inert = true;
    $("subject").focus();
  }
  close() {
    document.body.classList.remove("talking");
    document.querySelector("main").inert = $("beside").inert = false;
    this.#opener?.focus();
  }

  draw() {
    const { root, focus, titles } = this.#app;
    const name = focus === null ? root.title : titles.get(focus) ?? focus;
    const takesVotes = root.has("votes") && root.isTaken("votes", focus) && root.tally;
    const takesTalk = root.has("comments");
    const takesAny = ["votes", "comments"].some(kind => root.has(kind) && root.isTaken(kind, focus)) || root.thread?.total > 0;
    $("talk").hidden = !root.has("votes") && !takesTalk;
    $("open-talk").hidden = $("talk").hidden || (focus === null && !takesAny);
    $("of-items").hidden = takesAny;
    $("subject").textContent = name;
    $("whole").hidden = focus === null || this.#app.isItem;
    $("whole").textContent = `Back to ${root.title}`;
    $("closed-votes").hidden = !root.takes("votes")?.closed;
    $("tally").hidden = !takesVotes;
    if (takesVotes) this.#drawTally(root.tally, root.takes("votes"), name);
    $("comments").hidden = !takesTalk || !takesAny;
    const isClosed = root.takes("comments")?.closed === true;
    $("closed-comments").hidden = !isClosed;
    // What somebody was writing stays where they can copy it.
    $("compose").hidden = !root.isTaken("comments", focus) || (isClosed && !$("text").value);
    $("text").readOnly = $("post").disabled = isClosed;
    $("moderated").hidden = !root.takes("comments")?.moderated;
    const list = root.thread;
    const read = list ? this.#rest.after(list.entries, JSON.stringify(this.#about("comments")), list.version) : [];
    const entries = withHeld(read, root.held);
    $("count").textContent = plural(list?.total ?? 0, "comment", "comments");
    $("older").hidden = !list || read.length >= list.total || this.#rest.isWhole;
    const present = new Set(entries.map(({ id }) => id));
    for (const id of this.#written.keys()) if (!present.has(id)) this.#written.delete(id);
    arrange($("thread"), entries.map(comment => {
      if (!this.#written.has(comment.id)) this.#written.set(comment.id, new Comment(this.#app, this, comment.id));
      return this.#written.get(comment.id).update(comment);
    }));
  }

  #drawTally(tally, facts, name) {
    this.#vote.update(tally, facts, name);
    const most = Math.max(1, ...Object.values(tally.histogram)), stars = starsOf(facts);
    // On another scale a bar for each value that somebody gave.
    const values = stars.length ? stars.toReversed() : Object.keys(tally.histogram).sort((one, other) => other - one);
    $("bars").replaceChildren(...values.map(value => {
      const count = tally.histogram[value] ?? 0, bar = make("i", { ariaHidden: "true" });
      bar.style.setProperty("--part", `${100 * count / most}%`);
      return make("li", {}, make("span", { textContent: stars.length ? `${value} ★` : value }), bar, make("span", { textContent: count }));
    }));
    $("bars").hidden = tally.count === 0;
  }
}

/** The comments with one's own that others are not shown: in their places where they have one, else at the end. */
function withHeld(entries, held) {
  const own = new Map(held.map(comment => [comment.id, comment]));
  const known = new Set(entries.map(({ id }) => id));
  return [...entries.map(comment => own.has(comment.id) ? { ...comment, ...own.get(comment.id), depth: comment.depth } : comment),
    ...held.filter(({ id }) => !known.has(id))];
}

/** What stands in place of a text that is not there. */
function missing({ state, reason }) {
  if (state === "removed" && reason) return `removed by a moderator: ${reason}`;
  return state === "pending" ? "not shown yet" : "deleted";
}

/** Says where a text is longer than it may be. */
function limit(box, facts) {
  const most = facts?.maxLength ?? Infinity, length = [...box.value.trim()].length;
  box.setCustomValidity(length > most ? `${length.toLocaleString()} characters, where ${most.toLocaleString()} are allowed.` : "");
}

class Comment {
  #app; #comment = null;
  constructor(app, talk, id) {
    this.#app = app;
    this.who = make("bdi", { className: "who" });
    this.when = make("time", { className: "quiet" });
    this.text = make("p", { className: "text", dir: "auto" });
    this.reply = make("button", { className: "plain", type: "button", textContent: "Reply" });
    this.edit = make("button", { className: "plain", type: "button", textContent: "Edit" });
    this.remove = make("button", { className: "plain", type: "button", textContent: "Delete" });
    this.moderation = make("div", { className: "deciding", hidden: true },
      ...removal(reason => call("Moderate", { ...this.#about(), state: "removed", reason })));
    this.element = make("li", { className: "comment fresh" }, make("div", {}, this.who, " ", this.when), this.text, this.reply, this.edit, this.remove, this.moderation);
    this.reply.onclick = () => talk.setReply({ id, author: this.who.textContent });
    this.edit.onclick = () => this.#change();
    this.remove.onclick = () => { if (confirm("Delete your comment?")) call("Delete", this.#about()); };
  }
  #about() {
    const { root } = this.#app;
    return { container: root.container, component: root.first("comments")?.name, comment: this.#comment.id };
  }
  #change() {
    const box = make("textarea", { value: this.#comment.text, required: true, dir: "auto", "aria-label": "Your comment" });
    const save = make("button", { className: "button main", type: "submit", textContent: "Save" });
    const leave = make("button", { className: "plain", type: "button", textContent: "Leave as it was" });
    const form = make("form", { className: "editing" }, box, make("div", { className: "row" }, leave, save));
    const end = () => { form.remove(); this.text.hidden = false; this.update(this.#comment); this.edit.focus(); };
    box.oninput = () => limit(box, this.#app.root.takes("comments"));
    leave.onclick = end;
    form.onsubmit = async event => {
      event.preventDefault();
      const text = box.value.trim();
      if (text && (text === this.#comment.text || await call("Edit", { ...this.#about(), text }))) end();
    };
    this.text.hidden = this.edit.hidden = true;
    this.text.after(form);
    box.focus();
  }
  update(comment) {
    this.#comment = comment;
    const { element } = this, isShown = comment.text != null, isMine = isShown && comment.author === this.#app.actor;
    element.dataset.id = comment.id;
    element.style.setProperty("--depth", comment.depth);
    element.style.setProperty("--hue", [...comment.author ?? ""].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 360, 7));
    element.classList.toggle("gone", !isShown);
    this.who.textContent = nameOf(comment.author, this.#app.actor);
    this.when.dateTime = comment.created;
    this.when.title = momentOf(comment.created);
    this.when.textContent = ago(comment.created) + (comment.edited ? ", edited" : "") + (comment.state === "pending" ? `, waits for a moderator${comment.reason ? `: ${comment.reason}` : ""}` : "");
    this.text.textContent = comment.text ?? missing(comment);
    this.moderation.hidden = !isShown || isMine || !this.#app.moderates || comment.state !== "shown";
    const isClosed = this.#app.root.takes("comments")?.closed === true, form = element.querySelector(".editing");
    this.reply.hidden = !isShown || isClosed;
    this.remove.hidden = !isMine;
    if (form) form.querySelector(".main").disabled = isClosed;
    else this.edit.hidden = !isMine || isClosed;
    return element;
  }
}
