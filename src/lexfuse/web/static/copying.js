// Copies a citation: the button of the document, or the number of a paragraph with the address of its place.
import { announce } from "./parts.js";

for (const button of document.querySelectorAll("[data-copies]")) button.hidden = !navigator.clipboard;

async function copy(text, control) {
  await navigator.clipboard.writeText(text);
  announce(control.dataset.done);
  if (!control.matches("button")) return;
  const before = control.textContent;
  control.textContent = control.dataset.done;
  setTimeout(() => (control.textContent = before), 1600);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-copies]");
  if (button) copy(document.getElementById(button.dataset.copies).textContent.trim(), button);
  const anchor = event.target.closest?.("[data-pinpoint]");
  if (anchor && navigator.clipboard) copy(`${anchor.dataset.pinpoint}, ${anchor.href}`, anchor).catch(() => {}); // the link still leads there
});
