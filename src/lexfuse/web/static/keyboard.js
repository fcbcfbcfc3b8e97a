// Keys: / search, j and k results, Enter opens (it is a link), w why, ? this help, Escape leaves. Not while typing.
const TYPING = "input:not([type=checkbox], [type=radio], [type=submit], [type=button]), textarea, select, [contenteditable]";

function move(step) {
  const results = [...document.querySelectorAll("[data-result]")];
  if (!results.length) return;
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
  "?": help,
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || document.querySelector("dialog[open]")) return;
  const typing = event.target.matches?.(TYPING);
  if (event.key === "Escape" && typing) {
    event.preventDefault(); // a search field would be emptied
    event.target.blur();
  }
  if (typing || !(event.key in ACTIONS)) return;
  event.preventDefault();
  ACTIONS[event.key]();
});

document.addEventListener("click", (event) => {
  if (!event.target.closest?.("[data-opens=keys]")) return;
  event.preventDefault();
  help();
});
