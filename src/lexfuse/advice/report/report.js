// A click on the name of a column sorts a table by it: numbers downward first, words upward first, rows without a number last.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const key = (row, at) => {
    const cell = row.cells[at];
    return cell.dataset.order === undefined ? cell.textContent : Number(cell.dataset.order);
  };
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const rows = [...body.rows];
      const numeric = rows.some((row) => row.cells[at].dataset.order !== undefined);
      const before = head.getAttribute("aria-sort");
      const down = before ? before === "ascending" : numeric;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const sign = down ? -1 : 1;
      rows.sort((one, two) => {
        const a = key(one, at), b = key(two, at);
        if (numeric && typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
        return sign * (typeof a === "number" ? a - b : String(a).localeCompare(String(b), "en"));
      });
      body.append(...rows);
    });
  });
}
