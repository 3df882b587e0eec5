// What a screen shows, or one of its parts: taken in revision by revision.
export class Place {
  constructor(part, container) {
    [this.part, this.container] = [part, container];
    this.clear();
  }
  clear() {
    Object.assign(this, { title: "", fields: [], scopes: [], scope: null, path: [], focus: null, components: [], sections: [],
      lists: new Map(), tally: null, details: null, problem: null, held: [] });
  }

  /** Takes in what became of it. */
  take(change) {
    for (const name of ["scope", "path", "focus", "tally", "details", "held"]) if (change[name] != null) this[name] = change[name];
    if (change.title != null) {
      [this.title, this.fields, this.scopes] = [change.title, change.fields, change.scopes ?? []];
    }
    if (change.components) {
      this.components = change.components;
      // What those showed that are hidden or gone now goes with them.
      for (const name of this.lists.keys()) if (!this.isShown(name)) this.lists.delete(name);
      if (!this.has("filters")) this.sections = [];
      if (!this.has("votes")) this.tally = null;
    }
    // Beside components all sections, else those that offer something else; then what is counted or selected otherwise.
    if (change.sections) {
      this.sections = change.components ? change.sections
        : this.sections.map(section => change.sections.find(({ id }) => id === section.id) ?? section);
    }
    for (const { section, filters } of change.counts ?? []) {
      const known = this.sections.find(({ id }) => id === section);
      for (const { at, count, selected } of filters) Object.assign(known.filters[at], { count, selected });
    }
    for (const { component, total, edits, more, state, problem } of change.lists ?? []) {
      const list = this.lists.get(component) ?? { component, entries: [] };
      Object.assign(list, { total, more: more ?? false, state: state ?? null, problem: problem ?? null, version: (list.version ?? 0) + 1 });
      this.lists.set(component, list);
      for (const edit of edits) apply(list.entries, edit);
    }
  }

  component(name) { return this.components.find(component => component.name === name); }
  isShown(name) { return this.component(name)?.hidden === false; }
  first(kind) { return this.components.find(component => component.kind === kind && !component.hidden); }
  has(kind) { return this.first(kind) !== undefined; }
  /** What the first component of a kind that is shown takes; null: nothing is known of it. */
  takes(kind) { return this.first(kind)?.[kind] ?? null; }
  isTaken(kind, item) { return this.takes(kind)?.subjects.includes(item === null ? "container" : "items") ?? this.has(kind); }
  field(name) { return this.fields.find(field => field.name === name); }
  /** Whether any list of items shows something. */
  get hasEntries() { return [...this.lists.values()].some(({ component, entries }) => entries.length && this.component(component)?.kind === "contents"); }
  get thread() { return [...this.lists.values()].find(({ component }) => this.component(component)?.kind === "comments") ?? null; }
  /** How the definition presents the items of a list; what it leaves open is found in the fields' types. */
  present(list) {
    const title = this.fields.find(({ type, search }) => type === "text" && search) ?? this.fields.find(({ type }) => type === "text");
    return { title: title?.name, ...this.component(list)?.present };
  }
  titleOf(item, list) { return String(item.fields[this.present(list).title] ?? item.id); }
  get selected() {
    return Object.fromEntries(this.sections.map(({ id, filters }) =>
      [id, filters.filter(({ selected }) => selected).map(filter => filter.id)]).filter(([, ids]) => ids.length));
  }
}

function apply(entries, { op, at, to, item, comment }) {
  const entry = item ?? comment;
  if (op === "insert") entries.splice(at, 0, entry);
  else if (op === "remove") entries.splice(at, 1);
  else if (op === "update") entries[at] = entry;
  else if (op === "move") entries.splice(to, 0, ...entries.splice(at, 1));
}
