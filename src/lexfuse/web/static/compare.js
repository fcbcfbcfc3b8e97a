// Pointing at a result, or reaching it by the keyboard, shows where the other columns have the same document.
const place = document.querySelector("[data-compare]");

function show(document_) {
  for (const row of place.querySelectorAll("[data-document]")) {
    row.toggleAttribute("data-same", document_ !== null && row.dataset.document === document_);
  }
}

if (place) {
  const of = (event) => event.target.closest?.("[data-document]")?.dataset.document ?? null;
  place.addEventListener("pointerover", (event) => show(of(event)));
  place.addEventListener("pointerleave", () => show(null));
  place.addEventListener("focusin", (event) => show(of(event)));
  place.addEventListener("focusout", () => show(null));
}
