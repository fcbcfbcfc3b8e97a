// The theme changes at once and is kept in the cookie that the server reads.
const control = document.querySelector("[data-theme-switch]");
const ORDER = ["system", "light", "dark"];

control?.addEventListener("click", (event) => {
  event.preventDefault();
  const root = document.documentElement;
  const next = ORDER[(ORDER.indexOf(root.dataset.theme) + 1) % ORDER.length];
  root.dataset.theme = next;
  control.querySelector("[data-theme-name]").textContent = control.dataset[next];
  document.cookie = `lexfuse_theme=${next}; path=/; max-age=31536000; samesite=lax`;
});
