// Keys: / search, j and k results, Enter opens (it is a link), w why, u back to the results, ? this help, Escape leaves.
// Not while typing, and single keys not at all where the reader has switched them off.
import { kept, keep } from "./storage.js";

const TYPING = "input:not([type=checkbox], [type=radio], [type=submit], [type=button]), textarea, select, [contenteditable]";
const SWITCH = "[data-keys-switch]";
const singleKeys = () => kept("keys", true) !== false;

function move(step) {
  const results = [...document.querySelectorAll("[data-result]")];
  if (!results.length) return document.querySelector(`.trail a[rel=${step > 0 ? "next" : "prev"}]`)?.click();
  const now = results.findIndex((result) => result.contains(document.activeElement));
  const next = results[Math.min(results.length - 1, Math.max(0, now < 0 ? (step > 0 ? 0 : results.length - 1) : now + step))];
  next.querySelector("a[href]").focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

function help() {
  const dialog = document.getElementById("keys");
  if (dialog && !dialog.open) dialog.showModal();
}

const ACTIONS = {
  "/": () => {
    const field = document.querySelector("main input[type=search], main textarea");
    field?.focus();
    field?.select();
  },
  j: () => move(1),
  k: () => move(-1),
  w: () => document.activeElement?.closest("[data-result]")?.querySelector("a[data-why]")?.click(),
  u: () => document.querySelector("a[data-back]")?.click(),
  "?": help,
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || document.querySelector("dialog[open]")) return;
  const typing = event.target.matches?.(TYPING);
  if (event.key === "Escape" && typing) {
    event.preventDefault(); // a search field would be emptied
    event.target.blur();
  }
  if (typing || !(event.key in ACTIONS) || !singleKeys()) return;
  event.preventDefault();
  ACTIONS[event.key]();
});

for (const box of document.querySelectorAll(SWITCH)) box.checked = singleKeys();
document.addEventListener("change", (event) => {
  if (!event.target.matches?.(SWITCH)) return;
  keep("keys", event.target.checked);
  for (const box of document.querySelectorAll(SWITCH)) box.checked = event.target.checked;
});

document.addEventListener("click", (event) => {
  if (!event.target.closest?.("[data-opens=keys]")) return;
  event.preventDefault();
  help();
});
