// What to vote with: stars, the own vote in full colour, else the mean in a paler one; or a number on another scale.
import { make } from "./dom.js";
import { call } from "./calls.js";
import { meanOf } from "./values.js";

/** The values that a scale has as stars; none: it is shown as a number. */
export function starsOf(facts) {
  if (!facts || ![0.5, 1].includes(facts.step) || ![facts.step, 1].includes(facts.min) || !Number.isInteger(facts.max) || facts.max > 10) return [];
  return Array.from({ length: (facts.max - facts.min) / facts.step + 1 }, (_, index) => facts.min + index * facts.step);
}
const named = value => `${value} ${value <= 1 && value !== 0.5 ? "star" : "stars"}`;

/** `about` says on which container, component and item a vote is. */
export function makeVote(key, about) {
  const stars = make("fieldset", { className: "stars" });
  const back = make("button", { className: "plain", type: "button", textContent: "undo" });
  const legend = make("legend", { className: "unseen" });
  const number = make("input", { type: "number" });
  number.onchange = async () => { if (!number.checkValidity() || !await call("Cast", { ...about(), value: number.valueAsNumber })) number.reportValidity(); };
  let labels = [], scale = null, last = null;

  const mark = () => labels.forEach(({ box, value }) => { box.checked = last?.mine === value; });
  async function cast(value) { if (!await call("Cast", { ...about(), value })) mark(); }
  function rescale(facts) {
    if (scale === (scale = JSON.stringify([facts?.min, facts?.max, facts?.step]))) return;
    const values = starsOf(facts), isHalf = value => facts.step === 0.5 && (facts.min === 0.5 || value > 1);
    labels = values.map((value, index) => {
      const box = make("input", { type: "radio", name: key, value, className: "unseen", "aria-label": named(value) });
      box.onclick = () => cast(value);
      // Arrows go from star to star, and only Space or Enter votes: not each step is published.
      box.onkeydown = event => {
        const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
        if (step) {
          const next = labels[(index + step + labels.length) % labels.length].box;
          next.checked = true;
          next.focus();
        } else if (event.key === " " || event.key === "Enter") cast(value);
        else return;
        event.preventDefault();
        event.stopPropagation();
      };
      const label = make("label", {}, box, make("span", { textContent: "★", ariaHidden: "true" }));
      return { label, box, value, half: isHalf(value) ? Number.isInteger(value) ? "half right" : "half" : "" };
    });
    for (const bound of ["min", "max"]) number[bound] = facts?.[bound] ?? "";
    number.step = facts?.step ?? "any";
    stars.replaceChildren(legend, ...labels.length ? labels.map(({ label }) => label) : [number]);
  }
  // Whoever goes on without voting leaves the vote as it was.
  stars.addEventListener("focusout", event => { if (!stars.contains(event.relatedTarget)) mark(); });
  back.onclick = () => call("Retract", about());
  const element = make("div", { className: "vote" }, back, stars);

  function update(votes, facts, name) {
    element.hidden = !votes;
    last = votes;
    if (!votes) return;
    rescale(facts);
    const isClosed = facts?.closed === true;
    stars.disabled = back.disabled = isClosed;
    stars.title = isClosed ? "closed for votes" : "";
    legend.textContent = `Your vote for ${name}`;
    number.setAttribute("aria-label", legend.textContent);
    if (document.activeElement !== number) number.value = votes.mine ?? "";
    back.style.visibility = votes.mine == null ? "hidden" : "visible";
    back.setAttribute("aria-label", `Take back your vote for ${name}`);
    const step = facts?.step ?? 1, mean = meanOf(votes, facts) ?? 0;
    labels.forEach(({ label, value, half }) => {
      // Of the star that the mean falls into so much is filled.
      const part = votes.mine == null && mean < value && mean > value - step && !half ? (mean - value + step) / step : null;
      const shown = votes.mine != null ? (value <= votes.mine ? "mine" : "") : value <= mean ? "mean" : part === null ? "" : "mean partly";
      label.className = [half, shown].filter(Boolean).join(" ");
      label.style.setProperty("--part", part === null ? "" : `${Math.round(100 * part)}%`);
    });
    if (!stars.contains(document.activeElement)) mark();
    else if (labels.every(({ box }) => box !== document.activeElement || box.value === String(votes.mine))) mark();
  }
  return { element, update };
}
