// What a page gains by script: keys, a theme of one's own, filters, copying, and word of newer commits.
// Without it every page answers as well.
"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const store = {
    get(key) { try { return localStorage.getItem(key); } catch { return null; } },
    set(key, value) { try { localStorage.setItem(key, value); } catch { /* a browser that keeps nothing */ } },
  };

  const kept = store.get("argosy-theme");
  if (kept === "light" || kept === "dark") root.dataset.theme = kept;
  const otherTheme = () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    store.set("argosy-theme", root.dataset.theme);
  };
  const say = (text) => { const place = document.getElementById("said"); if (place) place.textContent = text; };

  const theme = document.getElementById("theme");
  const keys = document.getElementById("keys");
  const help = document.getElementById("help");
  const showHelp = () => { if (help && !help.open) help.showModal(); };
  if (theme) { theme.hidden = false; theme.addEventListener("click", otherTheme); }
  if (keys) { keys.hidden = false; keys.addEventListener("click", showHelp); }

  // The form that names a moment leaves out what is empty, so that addresses stay short.
  for (const form of all("form")) form.addEventListener("submit", () => {
    for (const input of all("input[name], select[name]", form)) if (input.value === "") input.disabled = true;
    setTimeout(() => all("[disabled]", form).forEach((input) => { input.disabled = false; }), 0);
  });

  for (const button of all("button.copy")) {
    button.hidden = !navigator.clipboard;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.previousElementSibling.textContent);
      button.textContent = "copied";
      say("copied");
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    });
  }

  const rowsOf = (from) => all("tbody tr, .rows > .row", from);
  for (const label of all(".filter")) {
    label.hidden = false;
    const input = label.querySelector("input");
    const rows = rowsOf(label.parentElement);
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        shown += row.hidden ? 0 : 1;
      }
      say(`${shown} of ${rows.length} rows`);
    });
  }

  let here = -1;
  const step = (by) => {
    const rows = rowsOf(document.getElementById("main")).filter((row) => !row.hidden && row.offsetParent);
    if (!rows.length) return;
    const now = rows.findIndex((row) => row.classList.contains("here"));
    rows.forEach((row) => row.classList.remove("here"));
    here = Math.max(0, Math.min(rows.length - 1, now < 0 ? (by > 0 ? 0 : rows.length - 1) : now + by));
    const row = rows[here];
    row.classList.add("here");
    row.scrollIntoView({ block: "nearest" });
    const link = row.querySelector("a, summary, button");
    if (link) link.focus({ preventScroll: true });
  };

  let awaits = -Infinity;
  const went = (key) => {
    const link = document.querySelector(`.side a[data-key="${CSS.escape(key)}"]`);
    if (link) location.assign(link.href);
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const field = event.target.closest("input, select, textarea");
    if (field) { if (event.key === "Escape") field.blur(); return; }
    if (help && help.open) return;
    if (event.timeStamp - awaits < 1200) { awaits = -Infinity; went(event.key); event.preventDefault(); return; }
    const find = document.getElementById("find");
    const filter = document.querySelector(".filter:not([hidden]) input");
    const actions = {
      "/": () => find && (find.focus(), find.select()),
      f: () => filter && filter.focus(),
      j: () => step(1),
      k: () => step(-1),
      g: () => { awaits = event.timeStamp; },
      t: otherTheme,
      "?": showHelp,
    };
    if (Object.hasOwn(actions, event.key)) { event.preventDefault(); actions[event.key](); }
  });

  // Word of newer commits: offered, not forced upon whoever reads.
  const { rendered, status } = document.body.dataset;
  const asked = new URLSearchParams(location.search);
  if (rendered && !asked.get("at") && document.body.dataset.newest) {
    const look = async () => {
      if (document.hidden) return;
      try {
        const answer = await fetch(document.body.dataset.newest, { headers: { Accept: "application/json" } });
        if (!answer.ok) return;
        const now = await answer.json();
        if (now.rendered === rendered && (now.status || "") === status) return;
      } catch { return; }
      clearInterval(timer);
      const link = document.createElement("a");
      link.className = "fresh";
      link.href = location.href;
      link.textContent = "Something newer stands: show it";
      document.body.append(link);
      say(link.textContent);
    };
    const timer = setInterval(look, 15000);
  }
})();
