// What a report gains by script: tables that are sorted as they stand, and a list that is searched.
// Without it the tables keep their order, and the list is whole.
"use strict";
(() => {
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const say = (text) => { const place = document.getElementById("said"); if (place) place.textContent = text; };

  // The value of a cell: a time, a number, or its words.
  const valueOf = (row, column) => {
    const cell = row.cells[column];
    if (!cell) return "";
    const time = cell.querySelector("time[datetime]");
    if (time) return Date.parse(time.dateTime);
    const text = cell.textContent.trim();
    const number = /^-?\d+(\.\d+)?(?![\w.:-])/.exec(text.replace(/,/g, ""));
    return number ? Number(number[0]) : text.toLowerCase();
  };
  const isEmpty = (value) => value === "" || value === "?";
  const compared = (one, other) => {
    if (isEmpty(one) || isEmpty(other)) return isEmpty(one) - isEmpty(other);
    if (typeof one === typeof other) return typeof one === "number" ? one - other : one.localeCompare(other, undefined, { numeric: true });
    return typeof one === "number" ? -1 : 1;
  };

  for (const words of all("th .order")) {
    const head = words.closest("th");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "order";
    button.append(...words.childNodes);
    words.replaceWith(button);
    button.addEventListener("click", () => {
      const body = head.closest("table").tBodies[0];
      const isDown = head.getAttribute("aria-sort") === "ascending";
      for (const each of head.parentElement.cells) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
      const rows = [...body.rows].map((row) => [valueOf(row, head.cellIndex), row]);
      rows.sort(([one], [other]) => (isEmpty(one) || isEmpty(other) || !isDown ? compared(one, other) : compared(other, one)));
      body.append(...rows.map(([, row]) => row));
      say(`these ${rows.length} rows by ${button.textContent}, ${isDown ? "descending" : "ascending"}`);
    });
  }

  // A row is the nearer to the top the closer its name is to the words.
  const rankOf = (row, words) => {
    const name = (row.querySelector("a, .object, .absent, code") || row).textContent.trim().toLowerCase();
    const last = name.slice(name.lastIndexOf("/") + 1).split(" ").pop();
    if (words.includes(last) || words.includes(name)) return 0;
    if (words.some((word) => last.startsWith(word))) return 1;
    return words.some((word) => name.includes(word)) ? 2 : 3;
  };
  const lists = all(".search-list");
  const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);
  for (const list of lists) {
    const input = list.querySelector(".filter input");
    const sections = all("section", list).map((section) => [section, all(".row", section)]);
    input.addEventListener("input", () => {
      const words = wordsOf(input.value);
      for (const [section, rows] of sections) {
        const shown = rows.filter((row) => !row.hidden);
        section.hidden = Boolean(words.length) && !shown.length;
        const ranked = words.length ? shown.map((row) => [rankOf(row, words), row]).sort(([one], [other]) => one - other) : rows.map((row) => [0, row]);
        if (rows.length) rows[0].parentElement.append(...ranked.map(([, row]) => row));
      }
    });
  }
  const lookFor = (list, text) => {
    const input = list.querySelector(".filter input");
    input.value = text;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  };

  const find = document.querySelector("form.find");
  if (find) find.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = find.elements.q.value;
    const target = new URL(find.getAttribute("action"), location.href);
    const part = target.hash && document.getElementById(target.hash.slice(1));
    const list = part ? part.querySelector(".search-list") : target.pathname === location.pathname && lists[0];
    if (!list) { location.assign(`${target.href}?q=${encodeURIComponent(text)}`); return; }
    if (part) location.hash = target.hash;
    lookFor(list, text);
    list.scrollIntoView({ block: "start" });
  });
  const asked = new URLSearchParams(location.search).get("q");
  if (asked) {
    if (find) find.elements.q.value = asked;
    lists.forEach((list) => lookFor(list, asked));
  }
})();
