// What Foretrace's pages add to the theme, each part a convenience: tables sort, and a trace opens in Perfetto.
"use strict";

(() => {
  const PERFETTO = "https://ui.perfetto.dev";

  /** What a cell sorts by: its exact number where it has one, else its text. */
  const key = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.order === undefined ? cell.textContent.trim() : Number(cell.dataset.order);
  };

  /** Numbers by size, texts in natural order; where a column has both, numbers come first in either direction. */
  const compare = (one, other, direction) => {
    if (typeof one === "number" && typeof other === "number") return direction * (one - other);
    if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
    return direction * one.localeCompare(other, undefined, { numeric: true });
  };

  const sort = (table, column, head) => {
    const direction = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
    for (const body of table.tBodies) {
      const rows = [...body.rows].filter((row) => !row.matches(".ft-group")); // a group keeps its head and its rows
      body.append(...rows.sort((a, b) => compare(key(a, column), key(b, column), direction)));
    }
  };

  const makeSortable = (table) => {
    if (!table.tHead || table.tBodies[0].rows.length < 2 || table.querySelector("[style*='--ft-depth']")) return;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, column, head));
      head.append(button);
    });
  };

  /** Hand a trace to Perfetto's window once it answers; it is read in that window and sent nowhere. */
  const openInPerfetto = async (link) => {
    const view = window.open(PERFETTO);
    const answer = await fetch(link.dataset.trace);
    if (!view || !answer.ok) return;
    const buffer = await answer.arrayBuffer();
    const asking = setInterval(() => view.postMessage("PING", PERFETTO), 100);
    const hand = (event) => {
      if (event.source !== view || event.origin !== PERFETTO || event.data !== "PONG") return;
      clearInterval(asking);
      window.removeEventListener("message", hand);
      view.postMessage({ perfetto: { buffer, title: link.dataset.title } }, PERFETTO, [buffer]);
    };
    window.addEventListener("message", hand);
    setTimeout(() => clearInterval(asking), 60_000);
  };

  /** A link to a kernel's name opens it. */
  const openTarget = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target instanceof HTMLDetailsElement) target.open = true;
  };

  document.documentElement.classList.toggle("ft-from-disk", location.protocol === "file:");
  document.querySelectorAll(".ft-table").forEach(makeSortable);
  window.addEventListener("hashchange", openTarget);
  openTarget();
  document.querySelectorAll("a[data-trace]").forEach((link) => {
    if (!location.protocol.startsWith("http")) return; // from disk a page may not read the file beside it
    link.addEventListener("click", (event) => {
      event.preventDefault();
      openInPerfetto(link);
    });
  });
})();
