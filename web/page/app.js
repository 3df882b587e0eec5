// The page of a container, its address, and what people do there. The first page lists the containers.
import { $, make, message, plural, trouble } from "./dom.js";
import { pathOf, readAddress, writeAddress } from "./address.js";
import { ask, call, sentence, Stream } from "./calls.js";
import { Filters } from "./filters.js";
import { ItemPage } from "./item.js";
import { drawCrumbs, drawScopes, Lists, STEP } from "./lists.js";
import { Place } from "./place.js";
import { Queue } from "./queue.js";
import { MOST } from "./rest.js";
import { Talk } from "./talk.js";

class App {
  state = readAddress(location);
  root = new Place(null, this.state.container);
  places = new Map(); // The parts by their names.
  titles = new Map(); // Of items that were seen.
  actor = null;
  chooses = []; // The scopes in which it means something to choose an item, "" for a container without any.
  follows = {}; // By part: its sections that go with one of the container's own.
  moderates = false;
  enters = []; // The scopes whose lists lead into items, "" for a container without any.
  focus = this.state.item;
  isMoved = false; // Whether somebody went here by hand: then the focus goes along.
  #screen = null; #revision = 0; #usual = []; #selectedAtFirst = null; #isPushed = false; #draft = null;
  #scroll = 0; #left = null;
  #stream = new Stream(resumes => this.#asks(resumes), {
    hello: hello => this.#hello(hello), revision: reply => this.#take(reply), lost: (reason, isRefused) => show("lost", reason, isRefused),
    refused: problem => this.#refused(problem) });

  constructor() {
    this.filters = new Filters(this.root, (name, parameters) => this.work(name, parameters));
    this.lists = new Lists(this, this.root);
    this.item = new ItemPage(this);
    this.talk = new Talk(this);
    this.queue = new Queue(this);
    this.#bind();
    this.#showPlace();
    this.#stream.open(false);
  }

  // MARK: The stream

  #asks(resumes) {
    const { scope, filters, search, sort } = this.state;
    // Where the screen is gone meanwhile, a list is as long again as it was.
    const shown = resumes ? Math.max(0, ...[...this.root.lists.values()].map(({ component, entries }) =>
      this.root.component(component)?.kind === "comments" ? 0 : entries.length)) : 0;
    const limit = Math.min(MOST, Math.max(STEP, Math.ceil(shown / STEP) * STEP));
    const query = { container: this.root.container, open: JSON.stringify({ scope, filters, search, sort, limit }) };
    if (resumes && this.#screen) query.resume = `${this.#screen}:${this.#revision}`;
    return query;
  }
  #hello({ actor, title, fields, sort, chooses, enters, follows, moderates, isAlone }) {
    [this.actor, this.#usual, this.chooses, this.enters, this.moderates] = [actor, sort, chooses, enters, moderates];
    this.follows = follows;
    $("home").hidden = isAlone;
    [this.root.title, this.root.fields] = [title, fields];
  }
  #refused(problem) {
    // What the address says may not fit what is there by now.
    if (/^(FieldUnknown|FilterNotFound|ScopeNotFound|Refused)$/.test(problem.error)) {
      Object.assign(this.state, { filters: undefined, sort: undefined, scope: undefined });
    }
    $("home").hidden = problem.error !== "ContainerNotFound" && $("home").hidden;
    $("problems").replaceChildren(make("p", { textContent: sentence(problem) }));
  }

  /** Takes in a revision: a snapshot, or a diff that leads on from the one that is shown. */
  #take(reply) {
    const { root } = this, isSnapshot = reply.base == null, isAnother = reply.screen !== this.#screen;
    if (!isSnapshot && (reply.base !== this.#revision || isAnother)) return this.#stream.open(false);
    const wanted = this.focus;
    if (isSnapshot) {
      const { title, fields } = root;
      root.clear();
      [root.title, root.fields] = [title, fields];
      this.places.clear();
    }
    [this.#screen, this.#revision] = [reply.screen, reply.revision];
    root.take(reply);
    for (const part of reply.parts ?? []) this.#takePart(part);
    if (isSnapshot && isAnother && !this.state.filters) this.#selectedAtFirst = JSON.stringify(root.selected);
    if (reply.focus != null && !isAnother) this.focus = reply.focus === "" ? null : reply.focus;
    show("live", "live");
    // Who comes back to a tab after long has not lost what they were at.
    if (reply.reset && !this.#stream.hasSlept) trouble(`The screen starts anew: ${reply.reset}`);
    if (isAnother) this.#restore(wanted);
    else this.#follow();
    this.draw(isSnapshot && isAnother);
    this.item.heard(reply);
    if (isAnother || reply.commits > 0) this.queue.heard();
    if (reply.message != null) message(reply.message);
    if (reply.lead) this.#lead(reply.lead, reply.message);
  }
  #takePart(part) {
    if (part.gone) {
      for (const key of [...this.places.keys()]) if (key === part.part || key.startsWith(`${part.part}/`)) this.places.delete(key);
      return;
    }
    if (!this.places.has(part.part)) this.places.set(part.part, new Place(part.part, part.container));
    const place = this.places.get(part.part);
    if (part.new || part.problem) place.clear();
    place.container = part.container;
    place.problem = part.problem ?? null;
    place.take(part);
  }
  /** On a screen that is new: where the address says that one is. */
  #restore(focus) {
    if (this.state.inside !== null) this.work("Enter", { item: this.state.inside }, true);
    if (focus !== null) this.setFocus(focus);
  }
  #lead({ container, item = null }, text) {
    if (container === this.root.container) return this.go({ item });
    try { sessionStorage.message = text ?? ""; } catch { /* a browser that keeps nothing */ }
    location.assign(pathOf(container, item));
  }

  // MARK: The address

  addressOf(changes) { return writeAddress({ ...this.state, ...changes }); }
  /** Brings the address to what the screen shows now. */
  #follow() {
    const { root, state } = this, before = writeAddress(state);
    state.scope = root.scope && root.scope !== root.scopes[0]?.name ? root.scope : undefined;
    state.inside = root.path.at(-1) ?? null;
    const selected = root.selected;
    state.filters = JSON.stringify(selected) === this.#selectedAtFirst ? undefined : selected;
    const after = writeAddress(state);
    if (after === before) return;
    history[this.#isPushed ? "pushState" : "replaceState"](null, "", after);
    this.#isPushed = false;
  }
  /** Goes to an item of this container, or back to its list. */
  go(changes, list = null) {
    if (this.state.item === null) [this.#scroll, this.#left] = [scrollY, changes.item];
    history.pushState(null, "", this.addressOf(changes));
    Object.assign(this.state, changes);
    this.isMoved = true;
    this.#showPlace(list);
  }
  #showPlace(list = null) {
    const { item } = this.state;
    document.body.classList.toggle("one", item !== null);
    $("whole-list").hidden = item !== null;
    $("detail").hidden = item === null;
    this.item.open(list);
    if (this.talk.isOver) this.talk.close();
    if (this.#screen === null) return;
    this.setFocus(item);
    this.draw(true);
    this.item.heard({});
    if (item !== null) return scrollTo(0, 0);
    scrollTo(0, this.#scroll);
    if (this.isMoved && this.#left !== null) document.querySelector(`.item[data-id="${CSS.escape(this.#left)}"] a`)?.focus({ preventScroll: true });
  }
  #popped() {
    const before = this.state, now = readAddress(location);
    if (now.container !== before.container) return location.reload();
    this.state = now;
    this.isMoved = true;
    const isSame = writeAddress({ ...now, item: null }) === writeAddress({ ...before, item: null });
    $("search").value = now.search;
    if (isSame) return this.#showPlace();
    this.focus = now.item;
    this.#showPlace();
    this.#selectedAtFirst = null;
    this.#screen = null;
    this.#stream.open(false);
  }

  // MARK: What people do

  /** Calls a method of the screen; what changes by it is a step that Back takes back, unless it is `quiet`. */
  work(name, parameters = {}, quiet = false) {
    if (!quiet && /^(Select|Deselect|Clear|SetScope|Enter|Back)$/.test(name) && !parameters.part) this.#isPushed = true;
    return call(name, { screen: this.#screen, ...parameters });
  }
  async setFocus(item) {
    this.focus = item;
    this.talk.setReply(null);
    // If it is gone, its page or the list shows that.
    const done = await call("Focus", { screen: this.#screen, ...item === null ? {} : { item } }, "ItemNotFound");
    if (!done && this.focus === item && item !== null) this.focus = null;
    this.draw();
  }
  follow(event, place, list, id) {
    if (place.part !== null || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    this.go({ item: id }, list);
  }
  get isItem() { return this.state.item !== null; }
  leave(event) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.go({ item: null });
  }
  enter(item) {
    this.go({ item: null });
    this.work("Enter", { item });
  }
  /** Whether an item may be entered that has no count of children: its list shows others inside. */
  mayEnter(place) {
    return place.part === null && place.path.length === 0 && !this.state.search && this.enters.includes(place.scope || "");
  }
  get mayChoose() { return this.chooses.includes(this.root.scope || ""); }
  /** Whether a section of a part goes with one that is shown above, so that it needs no place of its own. */
  isFollowing(part, section) { return this.root.sections.some(({ id }) => id === this.follows[part]?.[section]); }
  /** How a list of a place goes on behind what its screen shows: what `Contents.List` is asked, without page and limit. */
  listOf(place, component) {
    const isRoot = place.part === null, search = isRoot ? this.state.search : "";
    const sort = isRoot ? this.state.sort ?? this.#usual : [];
    return { container: place.container, component, filters: place.selected, sort, ...search ? { search } : {},
      ...place.scope ? { scope: place.scope } : {}, ...place.path.length ? { parent: place.path.at(-1) } : search ? {} : { parent: "" } };
  }
  choose(place, item) { return this.work("Activate", { item, ...place.part === null ? {} : { part: place.part } }); }
  talkOf(place, id, from) {
    if (place.part !== null) return location.assign(pathOf(place.container, id));
    this.setFocus(id);
    this.talk.open(from);
  }
  search(text) {
    this.state.search = text;
    history.replaceState(null, "", writeAddress(this.state));
    $("clear-search").hidden = !text;
    return this.work("Search", { text });
  }
  #bind() {
    $("clear").onclick = () => this.work("Clear");
    $("sections").onsubmit = $("tools").onsubmit = event => event.preventDefault();
    $("search").value = this.state.search;
    $("search").oninput = () => {
      clearTimeout(this.#draft);
      this.#draft = setTimeout(() => this.search($("search").value), 150);
    };
    $("clear-search").onclick = () => {
      clearTimeout(this.#draft);
      $("search").value = "";
      $("search").focus();
      this.search("");
    };
    $("clear-search").hidden = !this.state.search;
    $("sort").onchange = () => {
      this.state.sort = $("sort").value.split(",").filter(Boolean);
      if (this.state.sort.join() === this.#usual.join()) this.state.sort = undefined;
      history.replaceState(null, "", writeAddress(this.state));
      this.work("Sort", { sort: this.state.sort ?? this.#usual });
    };
    $("title").onclick = event => { if (this.isItem) this.leave(event); };
    document.addEventListener("keydown", event => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not([type=radio], [type=checkbox]), textarea, select")) return;
      if (this.isItem || $("tools").hidden) return;
      event.preventDefault();
      $("search").focus();
    });
    $("lists").addEventListener("keydown", event => { if (event.key === "Backspace" && this.root.path.length && !event.target.closest("input")) this.work("Back"); });
    addEventListener("popstate", () => this.#popped());
    if (matchMedia("(max-width: 46rem)").matches) $("filters").open = false;
    try {
      if (sessionStorage.message) message(sessionStorage.message);
      delete sessionStorage.message;
    } catch { /* a browser that keeps nothing */ }
  }

  // MARK: Drawing

  draw(isFirst = false) {
    const { root } = this;
    $("title").textContent = root.title;
    $("title").href = pathOf(root.container);
    if (!this.isItem) document.title = root.title;
    drawScopes($("scopes"), root, this);
    drawCrumbs($("crumbs"), root, this);
    this.filters.draw($("sections"));
    const count = Object.values(root.selected).flat().length;
    $("clear").hidden = count === 0;
    $("filters").firstElementChild.textContent = count ? `Filters (${count} selected)` : "Filters";
    $("filters").hidden = root.sections.length === 0;
    $("beside").hidden = $("filters").hidden || this.isItem;
    $("tools").hidden = !root.has("contents");
    this.#drawSort();
    $("problems").replaceChildren(...root.components.filter(({ problem }) => problem).map(({ title, problem }) =>
      make("p", { textContent: `${title}: ${problem}` })));
    this.lists.draw($("lists"), isFirst);
    this.item.draw();
    this.talk.draw();
  }
  #drawSort() {
    const { root } = this, orders = [];
    const best = root.fields.find(({ type, details }) => type === "number" && !details)?.name;
    if (!this.#usual.length) orders.push(["", "Usual order"]);
    if (root.has("votes")) orders.push([["-votes.score", best && `-${best}`].filter(Boolean).join(), "Best voted"], ["-votes.count", "Most voted"]);
    if (root.has("comments")) orders.push(["-comments.count", "Most discussed"]);
    for (const { name, type, title, details } of root.fields) {
      const head = title ?? name;
      if (details) continue;
      if (type === "text") orders.push([name, `${head}, A to Z`]);
      else if (/time|date/.test(type)) orders.push([`-${name}`, `${head}, latest`], [name, `${head}, earliest`]);
      else if (/number|integer|duration/.test(type)) orders.push([`-${name}`, `${head}, high to low`], [name, `${head}, low to high`]);
    }
    const now = (this.state.sort ?? this.#usual).join();
    if (!orders.some(([value]) => value === now)) orders.push([now, now]);
    const offer = JSON.stringify(orders);
    if ($("sort").dataset.offer !== offer) {
      $("sort").dataset.offer = offer;
      $("sort").replaceChildren(...orders.map(([value, text]) => make("option", { value, textContent: text })));
    }
    $("sort").value = now;
  }
}

function show(is, text, isRefused = false) {
  $("state").dataset.is = is;
  $("state").textContent = is !== "lost" ? text : isRefused ? "trying again…" : "reconnecting…";
  $("state").title = text;
}

/** The first page. */
async function front() {
  document.body.classList.add("front");
  $("whole-list").hidden = true;
  show("live", "");
  const { containers = [], ...refused } = (await ask("/-/containers")).reply;
  if (refused.error) trouble(sentence(refused));
  $("containers").hidden = false;
  $("containers").replaceChildren(...containers.map(({ name, title, items }) => make("li", { className: "item" },
    make("h2", {}, make("a", { href: pathOf(name), textContent: title, dir: "auto" })),
    make("p", { className: "quiet", textContent: plural(items, "entry", "entries") }))));
  if (!containers.length && !refused.error) $("containers").replaceChildren(make("li", { className: "quiet", textContent: "There is nothing yet: atriumctl apply -f films.yaml" }));
}

if (location.pathname === "/") front().catch(problem => trouble(problem.message));
else new App();
