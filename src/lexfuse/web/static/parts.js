// Parts of pages: the server renders them, and they take the place of what is there.

// The part of a page, as an element's new content. A refusal is content too: it says what is wrong.
export async function fetchPart(address, name, signal) {
  const answer = await fetch(address, { headers: { "X-LexFuse-Part": name, Accept: "text/html" }, signal });
  return { ok: answer.ok, content: contentOf(await answer.text()) };
}

function contentOf(text) {
  const parsed = new DOMParser().parseFromString(text, "text/html");
  const content = document.createDocumentFragment();
  content.append(...document.adoptNode(parsed.body).childNodes);
  return content;
}

// Says something to those who cannot see what has changed.
export function announce(words) {
  const live = document.querySelector("[data-live]");
  if (live && words) live.textContent = words;
}
