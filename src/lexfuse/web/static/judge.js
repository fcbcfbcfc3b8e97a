// A judgement is sent in the background, and the buttons come back as they are now. Without this script the page reloads.
document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("form[data-judge]")) return;
  event.preventDefault();
  const pressed = event.submitter;
  const at = [...form.querySelectorAll("button")].indexOf(pressed);
  try {
    const answer = await fetch(form.getAttribute("action"), {
      method: "POST",
      body: new URLSearchParams(new FormData(form, pressed)),
      headers: { "X-LexFuse-Part": "judge", Accept: "text/html" },
    });
    const made = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("form[data-judge]");
    if (!answer.ok || !made) throw new TypeError("refused");
    form.replaceWith(document.adoptNode(made));
    made.querySelectorAll("button")[at]?.focus();
  } catch {
    sendByBrowser(form, pressed); // so that what is wrong is shown as a page
  }
});

function sendByBrowser(form, pressed) {
  const field = document.createElement("input");
  field.type = "hidden";
  field.name = pressed.name;
  field.value = pressed.value;
  form.append(field);
  form.submit();
}
