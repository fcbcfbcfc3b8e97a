// Questions that were asked and those that are saved stay in this browser.
import { announce } from "./parts.js";
import { keep, kept } from "./storage.js";

const LONGEST = 50; // entries of the history

function put(name, entry, most) {
  const others = kept(name, []).filter((each) => each?.address !== entry.address);
  return keep(name, [entry, ...others].slice(0, most));
}

// The corpus, where there are several, and the filters, in the words of the page: they tell two searches by one question apart.
function narrowed() {
  const corpus = document.querySelector("[name=index]:is(select) option:checked");
  const labels = [...document.querySelectorAll(".chips a")].map((chip) => [...chip.childNodes].filter((each) => each.nodeType === Node.TEXT_NODE).map((each) => each.data.trim()).join(""));
  return [corpus?.label, ...labels].filter(Boolean).join(" · ");
}

const today = () => new Date().toISOString().slice(0, 10);

// What was asked last is kept when the page is left, so that unfinished words are not.
addEventListener("pagehide", () => {
  const label = new URLSearchParams(location.search).get("q")?.trim();
  if (location.pathname === "/" && label) put("history", { address: location.pathname + location.search, label, where: narrowed(), day: today() }, LONGEST);
});

const show = () => document.querySelectorAll("[data-save]").forEach((button) => (button.hidden = false));
show();
const place = document.querySelector("[data-part=results]");
if (place) new MutationObserver(show).observe(place, { childList: true });

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-save]");
  if (!button) return;
  if (put("saved", { address: button.dataset.save, label: button.dataset.label, where: narrowed(), day: today() }, 1000)) {
    button.textContent = button.dataset.saved;
    announce(button.dataset.saved);
  }
});
