// What is shown, as the page's address: /CONTAINER[/ITEM]?q=TEXT&sort=FIELD&scope=NAME&in=ITEM&f.SECTION=FILTER…
// What is not there is as the container's definition has it; `f` alone: nothing is selected.
export const pathOf = (container, item = null) =>
  `/${encodeURIComponent(container)}${item === null ? "" : `/${encodeURIComponent(item)}`}`;

export function readAddress({ pathname, search }) {
  const [, container = "", ...rest] = pathname.split("/");
  const state = { container: decodeURIComponent(container), item: rest.length ? decodeURIComponent(rest.join("/")) : null,
    search: "", sort: undefined, scope: undefined, inside: null, filters: undefined };
  for (const [name, value] of new URLSearchParams(search)) {
    if (name === "q") state.search = value;
    else if (name === "sort") state.sort = value.split(",").filter(Boolean);
    else if (name === "scope") state.scope = value;
    else if (name === "in") state.inside = value;
    else if (name === "f") state.filters ??= {};
    else if (name.startsWith("f.")) ((state.filters ??= {})[name.slice(2)] ??= []).push(value);
  }
  return state;
}

export function writeAddress({ container, item, search, sort, scope, inside, filters }) {
  const query = new URLSearchParams();
  if (scope) query.set("scope", scope);
  if (inside !== null) query.set("in", inside);
  if (search) query.set("q", search);
  if (sort) query.set("sort", sort.join());
  const selected = Object.entries(filters ?? {});
  if (filters && !selected.length) query.set("f", "");
  for (const [section, ids] of selected) for (const id of ids) query.append(`f.${section}`, id);
  return pathOf(container, item) + (query.size ? `?${query}` : "");
}
