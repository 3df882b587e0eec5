// Values of fields, as people read them: in the reader's language and zone.
import { make, plural } from "./dom.js";
import { prose } from "./calls.js";

// What the daemon checked is checked once more: a page runs what it is given.
export const isLink = value => /^(https?:\/\/|mailto:)/i.test(value);
const isData = value => /^data:image\/(png|jpeg|gif|webp|avif);base64,/i.test(value ?? "");
export const linkTo = value => isLink(value) ? make("a", { href: value, rel: "noopener noreferrer", target: "_blank", textContent: value, dir: "auto" }) : value;

/** The address of a picture; null: there is none. One from elsewhere is loaded where --image-origin of the gateway allows it. */
export function pictureOf(item, field, container, component) {
  const value = item.fields[field];
  if (typeof value !== "string") return null;
  if (isData(value) || /^https?:\/\//i.test(value)) return value;
  if (!value.startsWith("source:")) return null;
  return `/-/image/${[container, component, item.id, field].map(encodeURIComponent).join("/")}?${new URLSearchParams({ v: value })}`;
}

/** Shows a picture in an element, or hides it where it can't be had. */
export function showPicture(image, address) {
  image.hidden = !address;
  image.onerror = () => { image.hidden = true; };
  if (!address) image.removeAttribute("src");
  else if (image.getAttribute("src") !== address) image.src = address;
}

const DAY = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
const MONTH = new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric", timeZone: "UTC" });
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** A day that the daemon wrote as 2026-11-23. */
export function dayOf(text, by) {
  const date = new Date(`${text}T00:00:00Z`);
  if (isNaN(date)) return text;
  return by === "month" ? MONTH.format(date) : by === "week" ? `week of ${DAY.format(date)}` : DAY.format(date);
}
export function momentOf(value) {
  const date = new Date(value);
  // A day, which has no hours, is the same one in every zone.
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return dayOf(value);
  return isNaN(date) ? String(value) : MOMENT.format(date);
}
function durationOf(value) {
  const minutes = Math.round(value / 60);
  if (value < 600) return `${Math.floor(value / 60)}:${String(Math.round(value % 60)).padStart(2, "0")} min`;
  return minutes >= 60 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${minutes} min`;
}

export function worded(value, { type, unit, by } = {}) {
  if (Array.isArray(value)) return value.map(one => worded(one)).join(", ");
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (type === "time") return momentOf(value);
  if (type === "date") return dayOf(value, by);
  if (type === "duration") return durationOf(value);
  // An integer without a unit may be a year.
  const isGrouped = type === "number" || (type === "integer" && unit);
  const text = typeof value === "object" ? JSON.stringify(value) : isGrouped ? value.toLocaleString() : String(value);
  return unit ? `${text} ${unit}` : text;
}

/** What stands behind a field's name. */
export function shownValue(value, field) {
  if (field.type === "url") return linkTo(value);
  if (field.type === "time") return make("time", { dateTime: value, textContent: worded(value, field) });
  if (field.type === "markdown") return markdown(String(value));
  return make("bdi", { textContent: worded(value, field) });
}

const TAGS = new Set(["p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "hr", "br"]);
function build(tree, depth = 0) {
  return tree.map(node => {
    if (typeof node === "string") return node;
    const [tag, children, address] = node;
    const inside = depth < 30 ? build(children, depth + 1) : [];
    if (tag === "a") return isLink(address ?? "") ? make("a", { href: address, rel: "noopener noreferrer", target: "_blank" }, ...inside) : make("span", {}, ...inside);
    // Headings of a text stand below those of the page.
    const name = /^h[1-6]$/.test(tag) ? `h${Math.min(6, Number(tag[1]) + 2)}` : tag;
    return TAGS.has(tag) ? make(name, {}, ...inside) : make("span", {}, ...inside);
  });
}
/** Markdown: as it was written until its tree is there. */
export function markdown(text) {
  const element = make("div", { className: "prose", dir: "auto" }, make("p", { className: "text", textContent: text }));
  prose(text).then(tree => { if (tree) element.replaceChildren(...build(tree)); });
  return element;
}

/**
 * The mean of the votes; null: there are none. The score is what lists are ranked by, and may lie elsewhere. On a scale
 * with votes against it is shown all the same: there a mean says nothing.
 */
export function meanOf(votes, facts) {
  const given = Object.entries(votes?.histogram ?? {}), count = given.reduce((sum, [, times]) => sum + times, 0);
  if (!count || facts?.min < 0) return votes?.score ?? null;
  return given.reduce((sum, [value, times]) => sum + value * times, 0) / count;
}
export function scoreOf(votes, facts) {
  const mean = meanOf(votes, facts);
  return mean === null ? "" : `${mean.toFixed(1)} · ${plural(votes.count, "vote", "votes")}`;
}

export function nameOf(author, actor) {
  if (author == null) return "nobody";
  if (author === actor) return "you";
  if (author.startsWith("unix:")) return `user ${author.slice(5)}`;
  const name = author.slice(author.indexOf(":") + 1);
  return /^[0-9a-f]{24}$/.test(name) ? `guest ${name.slice(0, 4)}` : name;
}
const AGO = new Intl.RelativeTimeFormat("en");
export function ago(time) {
  const seconds = (Date.now() - new Date(time)) / 1000;
  for (const [unit, length] of [["day", 86400], ["hour", 3600], ["minute", 60]]) {
    if (seconds >= length) return AGO.format(-Math.floor(seconds / length), unit);
  }
  return "just now";
}
