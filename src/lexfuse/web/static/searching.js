// Search as you type: the results follow the question, the address follows both, and the focus stays where it is.
import { announce, fetchPart } from "./parts.js";

const PAUSE = 200; // milliseconds without a key
const form = document.querySelector("form[data-search]");
const place = document.querySelector("[data-part=results]");
let running = null;
let timer = 0;

function addressOf() {
  const data = new FormData(form);
  const pairs = [...data].filter(([, value]) => String(value).trim() !== "");
  const text = new URLSearchParams(pairs).toString();
  return text ? `${form.getAttribute("action")}?${text}` : form.getAttribute("action");
}

async function show(address, { push = false, fromTop = false } = {}) {
  clearTimeout(timer);
  running?.abort();
  const own = (running = new AbortController());
  place.setAttribute("aria-busy", "true");
  try {
    const { content } = await fetchPart(address, "results", own.signal);
    place.replaceChildren(content);
    push = leaveOpening() || push;
    if (push === true) history.pushState(null, "", address);
    else if (push === false) history.replaceState(null, "", address);
    tell(fromTop);
  } catch (error) {
    if (error.name !== "AbortError") offline(); // the page stays as it is
  } finally {
    if (running === own) place.removeAttribute("aria-busy");
  }
}

// Says that the results are those of another question, until the next answer takes their place.
function offline() {
  const note = place.querySelector("[data-offline-note]") ?? document.createElement("p");
  note.className = "notes";
  note.dataset.offlineNote = "";
  note.textContent = form.dataset.offline;
  place.prepend(note);
  announce(form.dataset.offline);
}

// The first question turns the start page into that of results; going back leads to the start page again.
function leaveOpening() {
  const opening = document.querySelector("[data-opening]");
  if (!opening) return false;
  opening.querySelector("h1").className = "aloud";
  opening.querySelector(".lead").remove();
  opening.classList.remove("opening");
  delete opening.dataset.opening;
  return true;
}

function tell(fromTop) {
  const query = new URLSearchParams(location.search).get("q") ?? "";
  document.title = `${query || form.dataset.claim} · LexFuse`;
  announce(place.querySelector("[data-count]")?.dataset.count);
  const options = place.querySelector("[data-options]");
  if (options) form.querySelector("[data-options]").textContent = options.dataset.options;
  if (fromTop) {
    place.querySelector("#results-title")?.focus({ preventScroll: true });
    place.scrollIntoView({ behavior: "instant" });
  }
}

if (form && place) {
  const field = form.querySelector("input[type=search]");
  let last = field.value.trim();
  let typing = false; // words that are typed in one go are one step back
  field.addEventListener("blur", () => (typing = false));
  field.addEventListener("input", (event) => {
    clearTimeout(timer);
    const now = field.value.trim();
    if (event.isComposing || now === last || !now) return;
    timer = setTimeout(() => {
      last = now;
      const first = !typing;
      typing = true;
      show(addressOf(), { push: first });
    }, PAUSE);
  });
  form.addEventListener("submit", (event) => {
    if (!field.value.trim()) return;
    event.preventDefault();
    if (field.value.trim() !== last || !typing) show(addressOf(), { push: !typing }); // a suggestion replaces what was typed for it
    last = field.value.trim();
    typing = false;
  });
  // Another corpus has other profiles: that is a new page. All else changes the results alone.
  form.addEventListener("change", (event) => {
    if (event.target.name === "index") {
      for (const profile of form.querySelectorAll("[name=profile]")) profile.value = "";
      for (const filter of document.querySelectorAll("input[form=search][name=filter]")) filter.remove();
      form.submit();
    } else if (event.target !== field && field.value.trim() && event.target.checkValidity()) {
      show(addressOf(), { push: true });
    }
  });
  place.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-part-link=results]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    if (form.elements.as_of) form.elements.as_of.value = new URL(link.href).searchParams.get("as_of") ?? ""; // a chip lets go of the day as well
    const facet = link.closest("[data-facet]")?.dataset.facet;
    const value = link.dataset.value;
    const folded = place.querySelector("details.fold[open]") !== null;
    show(link.href, { push: true, fromTop: "fromTop" in link.dataset }).then(() => {
      if (folded) place.querySelector("details.fold")?.setAttribute("open", "");
      const list = facet && place.querySelector(`[data-facet="${CSS.escape(facet)}"]`);
      if (list) (list.querySelector(`a[data-value="${CSS.escape(value)}"]`) ?? list.querySelector("a"))?.focus({ preventScroll: true });
      else if (!("fromTop" in link.dataset)) place.querySelector("#results-title")?.focus({ preventScroll: true });
    });
  });
  // Back and forward show what the address says; the start page has another form, so it is loaded.
  addEventListener("popstate", () => {
    const given = new URLSearchParams(location.search);
    if (!given.get("q") || document.querySelector("[data-opening]")) return location.reload();
    for (const name of ["q", "as_of", "sort", "profile"]) {
      const control = form.elements.namedItem(name);
      if (control) control.value = given.get(name) ?? "";
    }
    last = field.value.trim();
    typing = false;
    show(location.href, { push: null });
  });
}
