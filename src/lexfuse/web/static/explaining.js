// "Why this result" opens below the result; "why not" answers in the same place.
import { announce, fetchPart } from "./parts.js";

async function fill(panel, address) {
  panel.setAttribute("aria-busy", "true");
  panel.hidden = false;
  try {
    panel.replaceChildren((await fetchPart(address, "why")).content);
  } catch {
    panel.hidden = true; // no connection: the page stays as it is
    announce(document.querySelector("[data-offline]")?.dataset.offline);
  } finally {
    panel.removeAttribute("aria-busy");
  }
}

document.addEventListener("click", async (event) => {
  const link = event.target.closest?.("a[data-why]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const panel = document.getElementById(link.dataset.why);
  const open = panel.hidden;
  link.setAttribute("aria-expanded", String(open));
  link.setAttribute("aria-controls", panel.id);
  if (open) await fill(panel, link.href);
  else panel.hidden = true;
});

document.addEventListener("submit", (event) => {
  const panel = event.target.closest?.("form[data-why-not]")?.closest(".panel[data-part=why]");
  if (!panel) return;
  event.preventDefault();
  fill(panel, `/why?${new URLSearchParams(new FormData(event.target))}`);
});
