"use strict";
// Without this script everything can be read; with it tables can be sorted and filtered, and the facts saved.
(() => {
  const value = (row, column, kind) => {
    const text = row.cells[column].textContent.trim();
    if (kind !== "number") return text.toLowerCase();
    const number = parseFloat(text.replace(/,/g, ""));
    return Number.isNaN(number) ? null : number;
  };
  const compare = (a, b) => (a === null ? 1 : b === null ? -1 : a < b ? -1 : a > b ? 1 : 0);

  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const kind = head.dataset.sort;
      if (!kind) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const rows = [...table.tBodies[0].rows].map((row) => [value(row, column, kind), row]);
        // What has no value stays last in either order.
        rows.sort(([a], [b]) => (a === null || b === null || up ? compare(a, b) : compare(b, a)));
        table.tBodies[0].append(...rows.map(([, row]) => row));
      });
    });
  }

  const candidates = document.getElementById("candidates");
  if (candidates) {
    const label = document.createElement("label");
    const input = document.createElement("input");
    const found = document.createElement("span");
    label.className = "filter";
    input.type = "search";
    input.placeholder = "k-NN standardized";
    found.setAttribute("aria-live", "polite");
    label.append("Filter", input, found);
    candidates.parentElement.before(label);
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of candidates.tBodies[0].rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        shown += !row.hidden;
      }
      found.textContent = words.length ? `${shown} shown` : "";
    });
  }

  const save = document.getElementById("save");
  save.hidden = false;
  save.addEventListener("click", () => {
    const facts = new Blob([document.getElementById("facts").textContent], { type: "application/json" });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(facts);
    link.download = "facts.json";
    link.click();
    URL.revokeObjectURL(link.href);
  });
})();
