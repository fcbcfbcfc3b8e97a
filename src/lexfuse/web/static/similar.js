// A document as the query: the form is sent in the background and its part of the page replaced, files may be dropped anywhere.
// Without this script the same form is sent by the browser.
const FORM = "form[data-similar]";
let running = null;

const formOf = () => document.querySelector(FORM);

function tell(form, text, wrong = false) {
  const place = form.querySelector("[data-status]");
  place.textContent = text;
  place.toggleAttribute("data-wrong", wrong);
}

function tooLarge(form) {
  const file = form.elements.namedItem("file")?.files[0];
  return Boolean(file) && file.size > Number(form.dataset.limit);
}

async function send(form, button) {
  if (tooLarge(form)) {
    tell(form, form.dataset.large, true);
    form.elements.namedItem("file").value = "";
    return;
  }
  running?.abort();
  const own = (running = new AbortController());
  const part = form.closest("[data-part=similar]");
  part.setAttribute("aria-busy", "true");
  tell(form, form.dataset.busy);
  try {
    const address = form.getAttribute("action");
    const body = new FormData(form, button);
    const answer = await fetch(address, { method: "POST", body, headers: { "X-LexFuse-Part": "similar" }, signal: own.signal });
    if (!(answer.headers.get("content-type") ?? "").startsWith("text/html")) throw new TypeError("no page");
    replace(part, await answer.text());
  } catch (error) {
    if (error.name === "AbortError") return;
    part.removeAttribute("aria-busy");
    tell(form, form.dataset.offline, true);
  }
}

function replace(part, text) {
  const made = new DOMParser().parseFromString(text, "text/html").querySelector("[data-part=similar]");
  if (!made) throw new TypeError("no such part");
  part.replaceWith(document.adoptNode(made));
  const heading = made.querySelector("[data-focus]");
  heading?.focus({ preventScroll: true });
  heading?.scrollIntoView({ block: "start" });
}

document.addEventListener("submit", (event) => {
  if (!event.target.matches(FORM) || event.submitter?.value.startsWith("export-")) return; // a file is saved by the browser
  event.preventDefault();
  send(event.target, event.submitter);
});

// A file that is chosen is read at once: there is nothing else to say.
document.addEventListener("change", (event) => {
  if (event.target.matches(`${FORM} input[type=file]`) && event.target.files.length) formOf().requestSubmit();
});

// Entering a child leaves its parent, so entries are counted.
let inside = 0;
const carriesFile = (event) => event.dataTransfer?.types.includes("Files") && formOf() !== null;

function showTarget(shown) {
  inside = shown ? inside : 0;
  const target = document.querySelector("[data-drop]");
  if (target) target.hidden = !shown;
}

addEventListener("dragenter", (event) => {
  if (!carriesFile(event)) return;
  event.preventDefault();
  inside += 1;
  showTarget(true);
});
addEventListener("dragover", (event) => {
  if (!carriesFile(event)) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = "copy";
});
addEventListener("dragleave", (event) => {
  if (!carriesFile(event)) return;
  inside -= 1;
  if (inside <= 0) showTarget(false);
});
addEventListener("drop", (event) => {
  if (!carriesFile(event)) return;
  event.preventDefault();
  showTarget(false);
  const form = formOf();
  const given = new DataTransfer();
  given.items.add(event.dataTransfer.files[0]);
  form.elements.namedItem("file").files = given.files;
  form.requestSubmit();
});
