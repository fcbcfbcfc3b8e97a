// Suggestions below the search field: a list box that the field controls. The question is sent only to this server.
import { announce, fetchPart } from "./parts.js";

const PAUSE = 80; // milliseconds without a key
const list = document.querySelector("[data-suggestions]");
const form = list?.closest("form");
const field = form?.querySelector("input[type=search]");
let timer = 0;
let running = null;
let active = -1;

const options = () => [...list.querySelectorAll("[role=option]")];

function close() {
  clearTimeout(timer);
  running?.abort();
  list.hidden = true;
  field.removeAttribute("aria-controls");
  choose(-1);
}

function choose(at) {
  const all = options();
  active = all.length ? (at < -1 ? all.length - 1 : at >= all.length ? -1 : at) : -1;
  all.forEach((option, place) => option.setAttribute("aria-selected", String(place === active)));
  if (active < 0) field.removeAttribute("aria-activedescendant");
  else {
    field.setAttribute("aria-activedescendant", all[active].id);
    all[active].scrollIntoView({ block: "nearest" });
  }
}

function accept(option) {
  field.value = option.dataset.text;
  close();
  form.requestSubmit();
}

async function suggest() {
  const text = field.value;
  if (text.trim().length < 2) return close();
  running?.abort();
  const own = (running = new AbortController());
  const asked = new URLSearchParams({ q: text });
  const index = form.elements.index?.value;
  if (index) asked.set("index", index);
  try {
    const { ok, content } = await fetchPart(`${list.dataset.address}?${asked}`, "suggestions", own.signal);
    if (running !== own || document.activeElement !== field) return;
    list.replaceChildren(...(ok ? content.childNodes : []));
    choose(-1);
    list.hidden = !options().length;
    if (list.hidden) return field.removeAttribute("aria-controls");
    field.setAttribute("aria-controls", list.id);
    announce(list.querySelector("[data-count]")?.dataset.count);
  } catch (error) {
    if (error.name !== "AbortError") close(); // searching works without suggestions
  }
}

if (field) {
  for (const [name, value] of [["aria-autocomplete", "list"], ["aria-haspopup", "listbox"]])
    field.setAttribute(name, value);
  field.addEventListener("input", (event) => {
    clearTimeout(timer);
    if (!event.isComposing) timer = setTimeout(suggest, PAUSE);
  });
  field.addEventListener("keydown", (event) => {
    if (event.isComposing || list.hidden) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      clearTimeout(timer);
      running?.abort(); // a late answer would take the choice away
      choose(active + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter" && active >= 0) {
      event.preventDefault();
      accept(options()[active]);
    } else if (event.key === "Escape") {
      event.preventDefault(); // the question stays
      event.stopPropagation();
      close();
    }
  });
  field.addEventListener("blur", close);
  form.addEventListener("submit", close);
  list.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) accept(option);
  });
}
