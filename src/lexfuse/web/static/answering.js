// The copy button of the answer: results come after the page, and a button that cannot copy stays hidden.
const place = document.querySelector("[data-part=results]");

function show() {
  for (const button of place.querySelectorAll("[data-copies]")) button.hidden = !navigator.clipboard;
}

if (place) new MutationObserver(show).observe(place, { childList: true });
