// The sections of filters of a screen or a part.
import { arrange, make } from "./dom.js";
import { call } from "./calls.js";
import { dayOf } from "./values.js";

const FEW = 8; // A section of so many filters is shown whole, with those that nothing has.
const folded = text => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
const titleOf = ({ title }) => /^\d{4}-\d\d-\d\d$/.test(title) ? dayOf(title) : title;

/** Draws the sections of a place into an element; `work` calls a method of its screen. */
export class Filters {
  #sections = new Map(); #place; #work;
  constructor(place, work) { [this.#place, this.#work] = [place, work]; }

  /** `isLeftOut` says which sections are not shown. Returns whether any is. */
  draw(parent, isLeftOut = () => false) {
    const sections = this.#place.sections.filter(section => !isLeftOut(section));
    arrange(parent, sections.map(section => {
      const key = JSON.stringify([section.id, section.input]);
      if (!this.#sections.has(key)) this.#sections.set(key, new Section(section, this.#place, this.#work));
      return this.#sections.get(key).draw(section);
    }));
    return sections.length > 0;
  }
}

class Section {
  #known = new Map(); #place; #work; #id; #text = 0; #isWhole = false; #section;
  constructor({ id, title, input }, place, work) {
    [this.#id, this.#place, this.#work] = [id, place, work];
    this.legend = make("legend", { dir: "auto" });
    this.choices = make("div", { className: "choices" });
    this.rest = make("span", { className: "rest quiet" });
    this.none = make("button", { className: "plain", type: "button" });
    this.none.onclick = () => { this.#isWhole = !this.#isWhole; this.draw(this.#section); };
    this.find = make("input", { type: "search", autocomplete: "off" });
    this.found = make("div", { className: "choices found" });
    this.element = make("fieldset", {}, this.legend, this.choices, this.none, this.find, this.found);
    this.isTyped = input === "text" || input === "range";
    this.find.placeholder = input === "text" ? "contains…" : input === "range" ? "from..to" : "find…";
    this.find.setAttribute("aria-label", this.isTyped ? title : `Find in ${title}`);
    if (this.isTyped) this.find.onchange = async () => {
      const filter = this.find.value.trim();
      if (filter && await this.#work("Select", { section: id, filter })) this.find.value = "";
    };
    else this.find.oninput = () => {
      clearTimeout(this.#text);
      if (this.#section.more) this.#text = setTimeout(() => this.#search(), 200);
      else this.draw(this.#section);
    };
  }

  async #search() {
    const text = this.find.value.trim();
    const reply = text && await call("Find", { container: this.#place.container, section: this.#id, text,
      filters: this.#place.selected, ...this.#place.scope ? { scope: this.#place.scope } : {} });
    if (text !== this.find.value.trim()) return;
    const filters = reply ? reply.sections.find(({ id }) => id === this.#id)?.filters ?? [] : [];
    this.found.replaceChildren(...filters.slice(0, 30).map(filter => {
      const { label, show } = makeFilter(async box => {
        if (await this.#work(box.checked ? "Select" : "Deselect", { section: this.#id, filter: filter.id })) this.find.value = "";
        this.found.replaceChildren();
      });
      show(filter);
      return label;
    }));
    if (text && reply && !filters.length) this.found.replaceChildren(make("span", { className: "quiet", textContent: "nothing fits" }));
  }

  draw(section) {
    this.#section = section;
    this.legend.textContent = section.title;
    this.rest.textContent = section.rest ? `and ${section.rest.toLocaleString()} more` : "and more";
    const isMany = section.filters.length > FEW;
    // What was typed narrows those that are here; where there are more, the daemon looks for them: see #search.
    const text = isMany && !section.more ? folded(this.find.value.trim()) : "";
    // So is one of another list's filters, as of another tab, of which none would leave anything here.
    const isElsewhere = this.#place.hasEntries && section.filters.every(({ count, selected }) => count === 0 && !selected);
    const empty = (isMany || isElsewhere) && !text ? section.filters.filter(({ count, selected }) => count === 0 && !selected).length : 0;
    let isFound = !text;
    this.none.hidden = empty === 0;
    this.none.textContent = this.#isWhole ? "hide those with none" : `${empty} with none`;
    this.none.ariaExpanded = String(this.#isWhole);
    this.find.hidden = !this.isTyped && !section.more && !isMany;
    arrange(this.choices, [...section.filters.map(filter => {
      if (!this.#known.has(filter.id)) {
        this.#known.set(filter.id, makeFilter(async box => {
          const done = await this.#work(box.checked ? "Select" : "Deselect", { section: this.#id, filter: filter.id });
          if (!done) box.checked = !box.checked;
        }));
      }
      const { label, show } = this.#known.get(filter.id);
      show(filter);
      label.hidden = text ? !folded(titleOf(filter)).includes(text) : empty > 0 && !this.#isWhole && filter.count === 0 && !filter.selected;
      isFound ||= !label.hidden;
      return label;
    }), ...(section.more ? [this.rest] : [])]);
    if (!this.isTyped && !section.more) this.found.replaceChildren(...isFound ? [] : [make("span", { className: "quiet", textContent: "nothing fits" })]);
    return this.element;
  }
}

function makeFilter(changed) {
  const box = make("input", { type: "checkbox", className: "unseen" });
  const name = make("bdi"), count = make("b");
  const label = make("label", { className: "filter" }, box, make("span", {}, name, count));
  box.onchange = () => changed(box);
  function show(filter) {
    count.hidden = filter.count == null; // Nobody counts: a source is asked, or this is a calendar above other containers.
    box.checked = filter.selected;
    name.textContent = titleOf(filter);
    count.textContent = filter.count?.toLocaleString() ?? "";
    label.classList.toggle("none", filter.count === 0);
  }
  return { label, show };
}
