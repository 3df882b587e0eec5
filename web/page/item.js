// An item's page: its picture, all its fields, and what its source knows beyond. Votes and talk stand beside it.
import { $, make, plural } from "./dom.js";
import { call } from "./calls.js";
import { factsOf } from "./lists.js";
import { pictureOf, showPicture, scoreOf, worded } from "./values.js";

const PAUSE = 1000;

export class ItemPage {
  #app; #item = null; #details = {}; #list = null; #isGone = false; #asked = 0; #again = 0; #shown = null; #parts = null;
  constructor(app) { this.#app = app; }

  get isOpen() { return this.#app.state.item !== null; }
  get title() { return this.#item && this.#app.root.titleOf(this.#item, this.#list); }

  /** Goes to another item; `list` is the component that shows it, where that is known. */
  open(list = null) {
    [this.#item, this.#details, this.#list, this.#isGone, this.#asked, this.#shown] = [null, {}, list, false, 0, null];
    $("detail").replaceChildren();
  }

  /** Asks for the item; `again` for one that may have changed out of sight, once in a while. */
  async #ask() {
    clearTimeout(this.#again);
    const wait = this.#asked + PAUSE - performance.now();
    if (this.#asked && wait > 0) { this.#again = setTimeout(() => this.#ask(), wait); return; }
    this.#asked = performance.now();
    const { root, state } = this.#app, id = state.item;
    if (id === null) return;
    const lists = this.#list ? [this.#list] : root.components.filter(({ kind }) => kind === "contents").map(({ name }) => name);
    for (const component of lists) {
      const reply = await call("Get", { container: root.container, component, item: id }, true);
      if (this.#app.state.item !== id) return;
      if (!reply) continue;
      [this.#item, this.#details, this.#list, this.#isGone] = [reply.item, reply.details ?? {}, component, false];
      this.draw();
      this.#app.talk.draw();
      return;
    }
    if (root.components.length) { this.#isGone = this.#item === null || lists.length > 0; this.draw(); }
  }

  /** After a revision: what a list or the details have of it, or else the daemon is asked again. */
  heard(reply) {
    if (!this.isOpen) return;
    const { root, state } = this.#app;
    for (const [name, list] of root.lists) {
      const entry = list.entries.find(({ id, fields }) => id === state.item && fields);
      if (entry) {
        this.#list ??= name;
        const kept = Object.fromEntries(root.fields.filter(({ details }) => details).map(({ name }) => [name, this.#item?.fields[name]]));
        this.#item = { ...entry, fields: { ...kept, ...entry.fields } };
        if (!this.#asked) this.#ask();
        if (reply.details && root.focus === state.item) this.#detail(reply.details);
        this.draw();
        return;
      }
    }
    if (reply.commits > 0 || !this.#asked || reply.details) this.#ask();
  }
  #detail(details) {
    const names = new Set(this.#app.root.fields.map(({ name }) => name));
    for (const [name, value] of Object.entries(details)) {
      if (names.has(name)) this.#item.fields[name] = value; else this.#details = { ...this.#details, [name]: value };
    }
  }

  draw() {
    if (!this.isOpen) return;
    const { root } = this.#app, item = this.#item;
    if (!item) {
      if (this.#isGone) $("detail").replaceChildren(this.#back(), make("h2", { textContent: "There is no such item", tabIndex: -1 }));
      return;
    }
    const text = JSON.stringify([item, this.#details, root.fields, root.components, this.#isGone, this.#app.mayChoose]);
    if (text === this.#shown) return;
    const isFirst = this.#shown === null;
    this.#shown = text;
    if (isFirst) this.#build();
    const present = root.present(this.#list), head = root.titleOf(item, this.#list), subtitle = item.fields[present.subtitle];
    const { picture, title, below, gone, score, enter, choose, facts } = this.#parts;
    this.#app.titles.set(item.id, title.textContent = head);
    showPicture(picture, pictureOf(item, present.image, root.container, this.#list));
    below.hidden = subtitle == null;
    below.textContent = subtitle == null ? "" : worded(subtitle, root.field(present.subtitle));
    gone.hidden = !this.#isGone;
    score.textContent = root.isTaken("votes", item.id) ? scoreOf(item.votes, root.takes("votes")) : "";
    enter.hidden = !item.children;
    enter.textContent = `${plural(item.children ?? 0, "entry", "entries")} inside`;
    choose.hidden = !this.#app.mayChoose;
    const known = new Set(root.fields.map(({ name }) => name));
    facts.replaceChildren(...factsOf(root, this.#list, item, true),
      ...Object.entries(this.#details).filter(([name, value]) => !known.has(name) && value != null).map(([name, value]) =>
        make("div", {}, make("dt", { textContent: name }), make("dd", {}, make("bdi", { textContent: worded(value) })))));
    facts.hidden = !facts.children.length;
    if (isFirst && this.#app.isMoved) title.focus({ preventScroll: true });
    document.title = `${head} · ${root.title}`;
  }
  /** What stays as long as the item is shown: nothing is taken from under a finger. */
  #build() {
    const { root } = this.#app, id = this.#app.state.item;
    const parts = this.#parts = {
      picture: make("img", { alt: "", className: "cover", hidden: true }), title: make("h2", { dir: "auto", tabIndex: -1, id: "item-title" }),
      below: make("p", { className: "quiet", dir: "auto" }), gone: make("p", { className: "gone", textContent: "It is not there any more." }),
      score: make("p", { className: "quiet score" }), enter: make("button", { className: "button", type: "button" }),
      choose: make("button", { className: "button", type: "button", textContent: "Choose" }), facts: make("dl", { className: "facts whole" }) };
    parts.enter.onclick = () => this.#app.enter(id);
    parts.choose.onclick = () => this.#app.choose(root, id);
    const { picture, title, below, gone, score, enter, choose, facts } = parts;
    $("detail").replaceChildren(this.#back(), picture, title, below, gone, score, make("div", { className: "actions" }, enter, choose), facts);
  }
  #back() {
    const { root } = this.#app;
    const link = make("a", { className: "back", href: this.#app.addressOf({ item: null }), textContent: `← ${root.title || "Back"}`, dir: "auto" });
    link.onclick = event => this.#app.leave(event);
    return link;
  }
}
