// The lists of a screen, and its parts, in the order of the components.
import { arrange, announce, flash, make, plural } from "./dom.js";
import { pathOf } from "./address.js";
import { call } from "./calls.js";
import { Filters } from "./filters.js";
import { MOST, Rest } from "./rest.js";
import { makeVote } from "./votes.js";
import { pictureOf, scoreOf, showPicture, shownValue, worded } from "./values.js";

export const STEP = 30;
const MOST_GLIDING = 300; // Where more rows are shown, they move at once.

/** Everything of a place that is shown in the middle. `app` carries out what people do: see app.js. */
export class Lists {
  #drawn = new Map(); #parts = new Map(); #app; #place; #scopes; #crumbs;
  constructor(app, place) { [this.#app, this.#place] = [app, place]; }

  draw(parent, isFirst) {
    const place = this.#place;
    const shown = place.components.filter(({ name, kind, hidden, container }) => !hidden && (container || (kind === "contents" && place.lists.has(name))));
    for (const name of this.#drawn.keys()) if (!place.lists.has(name)) this.#drawn.delete(name);
    arrange(parent, shown.map(({ name, container }) => container ? this.#drawPart(name, isFirst) : this.#drawList(name, isFirst, shown.length === 1))
      .filter(Boolean));
  }

  #drawPart(name, isFirst) {
    const key = this.#place.part ? `${this.#place.part}/${name}` : name;
    const place = this.#app.places.get(key);
    if (!place) return null;
    if (this.#parts.get(name)?.place !== place) this.#parts.set(name, new Part(this.#app, place));
    return this.#parts.get(name).draw(this.#place.component(name), isFirst);
  }

  #drawList(name, isFirst, isAlone) {
    const place = this.#place, list = place.lists.get(name);
    if (!this.#drawn.has(name)) this.#drawn.set(name, new List(this.#app, place, name));
    return this.#drawn.get(name).draw(list, isFirst, isAlone);
  }
}

/** A container within the one that is shown. */
class Part {
  constructor(app, place) {
    this.place = place;
    this.title = make("h2", { dir: "auto" });
    this.problem = make("p", { className: "quiet" });
    this.scopes = make("nav", { className: "tabs", "aria-label": "Scopes" });
    this.crumbs = make("nav", { className: "crumbs", "aria-label": "Where you are" });
    this.sections = make("form", { className: "sections" });
    this.sections.onsubmit = event => event.preventDefault();
    this.inside = make("div", { className: "inside" });
    this.filters = new Filters(place, (name, parameters) => app.work(name, { part: place.part, ...parameters }));
    this.lists = new Lists(app, place);
    this.app = app;
    this.element = make("section", { className: "part" }, this.title, this.problem, this.scopes, this.crumbs, this.sections, this.inside);
  }
  draw(component, isFirst) {
    const { place } = this;
    this.element.dataset.part = place.part;
    this.title.replaceChildren(make("a", { href: pathOf(place.container), textContent: component.title || place.title }));
    this.sections.setAttribute("aria-label", `Filters of ${component.title || place.title}`);
    this.problem.textContent = place.problem ?? "";
    this.problem.hidden = !place.problem;
    drawScopes(this.scopes, place, this.app);
    drawCrumbs(this.crumbs, place, this.app);
    this.sections.hidden = !this.filters.draw(this.sections, ({ id }) => this.app.isFollowing(place.part, id));
    this.lists.draw(this.inside, isFirst);
    return this.element;
  }
}

const partOf = place => place.part === null ? {} : { part: place.part };

/** Scopes as tabs. */
export function drawScopes(nav, place, app) {
  nav.hidden = place.scopes.length < 2;
  const key = JSON.stringify([place.scopes, place.scope]);
  if (nav.dataset.key === key) return;
  nav.dataset.key = key;
  const had = nav.contains(document.activeElement);
  nav.replaceChildren(...place.scopes.map(({ name, title }) => {
    const tab = make("button", { type: "button", className: "tab", textContent: title, dir: "auto" });
    if (name === place.scope) tab.setAttribute("aria-current", "page");
    tab.onclick = () => app.work("SetScope", { scope: name, ...partOf(place) });
    return tab;
  }));
  if (had) nav.querySelector("[aria-current]")?.focus();
}

/** What was entered, and the way back. */
export function drawCrumbs(nav, place, app) {
  nav.hidden = place.path.length === 0;
  const key = JSON.stringify(place.path);
  if (nav.dataset.key === key) return;
  nav.dataset.key = key;
  const back = make("button", { type: "button", className: "button back", textContent: "← Back" });
  back.onclick = () => app.work("Back", partOf(place));
  nav.replaceChildren(back, ...place.path.map(id => make("span", { className: "crumb", dir: "auto", textContent: app.titles.get(id) ?? id })));
}

class List {
  #app; #place; #name; #rows = new Map(); #asked = 0; #end; #seen = -1; #rest;
  constructor(app, place, name) {
    [this.#app, this.#place, this.#name] = [app, place, name];
    this.heading = make("h2", { dir: "auto" });
    this.count = make("span", { className: "quiet" });
    this.closed = make("span", { className: "quiet closed", textContent: "closed for votes", hidden: true });
    this.trouble = make("p", { className: "quiet", hidden: true });
    this.items = make("ol", { className: "items" });
    this.more = make("button", { className: "button", type: "button", textContent: "Show more", hidden: true });
    this.more.onclick = () => this.#grow();
    this.element = make("section", { className: "list" }, make("div", { className: "bar" }, this.heading, this.count, this.closed), this.trouble,
      this.items, make("p", {}, this.more));
    // Who comes to the end sees more.
    this.#end = new IntersectionObserver(entries => { if (entries.at(-1).isIntersecting) this.#grow(); });
    this.items.onkeydown = event => this.#step(event);
    this.#rest = new Rest(page => call("List", { ...app.listOf(place, name), ...page })
      .then(reply => reply && { entries: reply.items, next: reply.next }), () => app.draw());
  }
  #grow() {
    const shown = this.#place.lists.get(this.#name)?.entries.length ?? 0, limit = Math.min(MOST, shown + STEP);
    if (shown >= MOST) return this.more.hidden || this.#rest.grow();
    if (limit <= this.#asked && shown < this.#asked || this.more.hidden) return;
    this.#asked = limit;
    this.#app.work("Resize", { component: this.#name, limit, ...partOf(this.#place) }).then(done => { if (!done) this.#asked = 0; });
  }
  #step(event) {
    if (event.target.closest(".stars, input, select, textarea") || event.altKey || event.ctrlKey || event.metaKey) return;
    const links = [...this.items.querySelectorAll("h3 a")];
    const now = links.indexOf(event.target.closest(".item")?.querySelector("h3 a"));
    const to = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: links.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    links[to]?.focus();
  }

  draw(list, isFirst, isAlone) {
    const { title, empty } = this.#place.component(this.#name);
    this.heading.textContent = title;
    this.heading.classList.toggle("unseen", isAlone);
    this.items.setAttribute("aria-label", title);
    const entries = this.#rest.after(list.entries, JSON.stringify(this.#app.listOf(this.#place, this.#name)), list.version);
    const total = list.total.toLocaleString(), shown = entries.length;
    const waits = list.state === "loading" ? "is being read…" : list.state === "asking" ? "is being asked…" : null;
    const text = list.total === 0 && !list.more ? waits ?? empty ?? (this.#place.part === null && this.#app.state.search ? `nothing fits “${this.#app.state.search}”` : "nothing fits")
      : list.more ? `${shown.toLocaleString()} of more than ${total}` : shown < list.total ? `${shown.toLocaleString()} of ${total}` : `${total} in all`;
    if (this.count.textContent !== text) {
      this.count.textContent = text;
      if (!isFirst) announce(isAlone ? text : `${title}: ${text}`);
    }
    this.trouble.hidden = !list.problem;
    this.trouble.textContent = list.problem ?? "";
    this.element.classList.toggle("stale", list.state === "stale");
    this.more.hidden = (shown >= list.total && !list.more) || this.#rest.isWhole;
    this.closed.hidden = !this.#place.takes("votes")?.closed;
    if (shown < this.#asked - STEP || shown >= this.#asked) this.#asked = 0;
    if (shown !== this.#seen) {
      // Anew: it is only called for changes, and the end may be in sight still.
      this.#seen = shown;
      this.#end.unobserve(this.more);
      this.#end.observe(this.more);
    }
    const rows = this.#rows;
    const isStill = shown > MOST_GLIDING || matchMedia("(prefers-reduced-motion: reduce)").matches;
    const before = isStill ? null : new Map([...rows.values()].filter(row => row.element.isConnected).map(row => [row, row.element.getBoundingClientRect().top]));
    const present = new Set(entries.map(({ id }) => id));
    for (const id of rows.keys()) if (!present.has(id)) rows.delete(id);
    arrange(this.items, entries.map(item => {
      if (!rows.has(item.id)) rows.set(item.id, new Row(this.#app, this.#place, this.#name, item.id));
      rows.get(item.id).update(item, !isFirst);
      return rows.get(item.id).element;
    }));
    if (before) slide(rows, before);
    return this.element;
  }
}

/** Lets rows glide from where they stood. */
function slide(rows, before) {
  for (const row of rows.values()) {
    const way = before.has(row) ? before.get(row) - row.element.getBoundingClientRect().top : 0;
    if (way) row.element.animate([{ transform: `translateY(${way}px)` }, {}], { duration: 350, easing: "ease-out" });
  }
}

/** The fields that are shown below an item's title. */
export function factsOf(place, list, item, isWhole = false) {
  const present = place.present(list), heads = [present.title, present.subtitle, present.image];
  const columns = isWhole || !present.columns ? place.fields.filter(({ name, type }) => !heads.includes(name) && type !== "image")
    : present.columns.filter(column => !heads.includes(column)).map(column => place.field(column)).filter(Boolean);
  return columns.filter(({ name, type, details }) => item.fields[name] != null && (isWhole || (!details && type !== "markdown"))).map(field => {
    const isPlain = !isWhole && /keywords|duration/.test(field.type);
    return make("div", { title: field.description ?? "" },
      make("dt", { textContent: field.title ?? field.name, className: isPlain ? "unseen" : "", dir: "auto" }),
      make("dd", {}, shownValue(item.fields[field.name], field)));
  });
}

class Row {
  #app; #place; #list; #id; #shown = null;
  constructor(app, place, list, id) {
    [this.#app, this.#place, this.#list, this.#id] = [app, place, list, id];
    this.picture = make("img", { alt: "", loading: "lazy", hidden: true });
    this.link = make("a", { dir: "auto" });
    this.subtitle = make("p", { className: "quiet", hidden: true, dir: "auto" });
    this.facts = make("dl", { className: "facts" });
    this.score = make("span", { className: "score quiet" });
    this.enter = make("button", { className: "plain", type: "button", hidden: true });
    this.choose = make("button", { className: "plain", type: "button", textContent: "Choose", hidden: true });
    this.talk = make("button", { className: "plain talk", type: "button" });
    const about = { container: place.container, ...place.first("votes") ? { component: place.first("votes").name } : {}, item: id };
    this.vote = makeVote(`${place.part ?? ""} ${list} ${id}`, () => ({ ...about, component: place.first("votes")?.name }));
    this.element = make("li", { className: "item" }, make("h3", {}, this.link), this.subtitle, this.facts, this.vote.element,
      make("div", { className: "more" }, this.enter, this.choose, this.score, this.talk));
    this.element.dataset.id = id;
    this.link.href = pathOf(place.container, id);
    this.link.onclick = event => app.follow(event, place, list, id);
    this.enter.onclick = () => app.work("Enter", { item: id, ...partOf(place) });
    this.choose.onclick = () => app.choose(place, id);
    this.talk.onclick = () => app.talkOf(place, id, this.talk);
  }

  update(item, isNews) {
    const place = this.#place, app = this.#app;
    item = { ...item, votes: place.has("votes") ? item.votes : null, comments: place.has("comments") ? item.comments : null };
    this.element.classList.toggle("focused", place.part === null && app.focus === this.#id);
    const present = place.present(this.#list);
    const text = JSON.stringify([item, place.fields, present, place.takes("votes"), place.takes("comments"), app.mayChoose, app.mayEnter(place)]);
    if (text === this.#shown) return;
    if (isNews) flash(this.element);
    this.#shown = text;
    const head = place.titleOf(item, this.#list);
    app.titles.set(item.id, head);
    this.link.textContent = head;
    const subtitle = item.fields[present.subtitle];
    this.subtitle.hidden = subtitle == null;
    this.subtitle.textContent = subtitle == null ? "" : worded(subtitle, place.field(present.subtitle));
    const picture = pictureOf(item, present.image, place.container, this.#list);
    if (picture) this.element.prepend(this.picture); else this.picture.remove();
    showPicture(this.picture, picture);
    this.facts.replaceChildren(...factsOf(place, this.#list, item));
    this.facts.hidden = !this.facts.children.length;
    this.score.textContent = scoreOf(item.votes, place.takes("votes"));
    this.vote.update(place.isTaken("votes", item.id) ? item.votes : null, place.takes("votes"), head);
    this.enter.hidden = !item.children && !app.mayEnter(place);
    this.enter.textContent = item.children ? `${plural(item.children, "entry", "entries")} inside` : "Enter";
    this.enter.setAttribute("aria-label", `Enter ${head}: ${this.enter.textContent}`);
    this.choose.hidden = !app.mayChoose || place.part !== null;
    this.choose.setAttribute("aria-label", `Choose ${head}`);
    this.talk.hidden = item.comments == null || !place.isTaken("comments", item.id) || (item.comments === 0 && place.takes("comments")?.closed === true);
    this.talk.textContent = item.comments === 0 ? "comment" : plural(item.comments ?? 0, "comment", "comments");
    this.talk.setAttribute("aria-label", `${this.talk.textContent} on ${head}`);
  }
}
