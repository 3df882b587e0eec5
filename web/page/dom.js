// Elements. Everything that others wrote goes into the page as text: through `textContent`, or an attribute's value.
export const $ = id => document.getElementById(id);

/** An element with properties, or with attributes where there is no such property, and what it holds. */
export function make(kind, properties = {}, ...children) {
  const element = document.createElement(kind);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value; else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Puts elements into a parent, in order; those that are there already are not touched where they stand right. */
export function arrange(parent, elements) {
  const focused = document.activeElement;
  elements.forEach((element, place) => {
    if (parent.children[place] !== element) parent.insertBefore(element, parent.children[place] ?? null);
  });
  while (parent.children.length > elements.length) parent.lastElementChild.remove();
  if (focused !== document.activeElement && focused?.isConnected) focused.focus({ preventScroll: true });
}

export function flash(element) {
  element.classList.remove("fresh");
  void element.offsetWidth; // Begins the animation anew.
  element.classList.add("fresh");
}

let troubled = null;
export function trouble(text) {
  $("trouble").textContent = text;
  $("trouble").hidden = !text;
  clearTimeout(troubled);
  if (text) troubled = setTimeout(() => trouble(""), 8000);
}

/** What a container's delegate has to say. */
export function message(text) {
  $("message").textContent = text;
  $("message").hidden = !text;
}

// A busy list would talk without end: what is said last is said, every 5 s at most.
const PAUSE = 5000;
let said = -PAUSE, waiting = null, next = "";
export function announce(text) {
  next = text;
  waiting ??= setTimeout(() => {
    waiting = null;
    said = performance.now();
    if ($("announcer").textContent !== next) $("announcer").textContent = next;
  }, Math.max(200, said + PAUSE - performance.now()));
}

export const plural = (count, one, many) => count === 1 ? `1 ${one}` : `${count.toLocaleString()} ${many}`;
