// The page of kept searches: lists from the storage of this browser.
import { announce } from "./parts.js";
import { keep, kept } from "./storage.js";

const root = document.querySelector("[data-kept]");

function row(name, entry) {
  const made = root.querySelector("template").content.firstElementChild.cloneNode(true);
  const link = made.querySelector(".asked a");
  link.textContent = entry.label;
  link.href = entry.address.startsWith("/?") ? entry.address : "/";
  made.querySelector("small").textContent = typeof entry.where === "string" ? entry.where : "";
  const time = made.querySelector("time");
  time.dateTime = entry.day;
  time.textContent = new Date(entry.day).toLocaleDateString(document.documentElement.lang);
  const feed = made.querySelector(".feed");
  if (name === "saved") feed.href = link.getAttribute("href").replace("/?", "/feed?");
  else feed.remove();
  made.querySelector("button").addEventListener("click", () => {
    keep(name, kept(name, []).filter((each) => each.address !== entry.address));
    fill(name);
    document.getElementById(`${name}-title`).focus();
  });
  return made;
}

function fill(name) {
  const entries = kept(name, []).filter((each) => typeof each?.address === "string" && typeof each.label === "string");
  root.querySelector(`[data-list=${name}]`).replaceChildren(...entries.map((each) => row(name, each)));
  root.querySelector(`[data-empty=${name}]`).hidden = entries.length > 0;
  root.querySelector(`[data-clear=${name}]`).hidden = entries.length === 0;
}

if (root) {
  root.hidden = false;
  document.querySelector("[data-noscript]").hidden = true;
  for (const name of ["saved", "history"]) fill(name);
  root.addEventListener("click", (event) => {
    const name = event.target.dataset?.clear;
    if (!name) return;
    keep(name, []);
    fill(name);
    announce(root.querySelector(`[data-empty=${name}]`).textContent);
    document.getElementById(`${name}-title`).focus();
  });
}
