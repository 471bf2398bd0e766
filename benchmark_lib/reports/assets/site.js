// Everything interactive on the site. It reads what is on the page, writes text only as text, and makes no network requests.
(() => {
  "use strict";

  const root = document.documentElement;
  const kept = { get: () => { try { return localStorage.getItem("deskbench-theme"); } catch { return null; } },
                 set: (value) => { try { localStorage.setItem("deskbench-theme", value); } catch { /* storage is closed to this page */ } } };
  if (["dark", "light"].includes(kept.get())) root.dataset.theme = kept.get();

  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (id) => document.getElementById(id);

  const data = (id) => JSON.parse(one(id).textContent);
  const { make, plural, pageName, talkPage, address } = globalThis.deskbench;

  function theme() {
    const button = one("theme");
    const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
    const label = () => { button.textContent = dark() ? "Light" : "Dark"; };
    button.hidden = false;
    button.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; kept.set(root.dataset.theme); label(); });
    label();
  }

  // One tooltip for the page: on hover, on focus, gone with Escape.
  function tooltips() {
    const tip = make("div", { class: "tip", role: "tooltip", hidden: "" });
    document.body.append(tip);
    const holder = (event) => (event.target instanceof Element ? event.target.closest("[data-tip], a.sq") : null);
    function show(element) {
      tip.textContent = element.dataset.tip || element.getAttribute("aria-label") || "";
      tip.hidden = !tip.textContent;
      const box = (element.querySelector(".mark, circle, rect:not(.hit)") || element).getBoundingClientRect(), own = tip.getBoundingClientRect();
      const left = Math.min(Math.max(box.left + box.width / 2 - own.width / 2, 8), innerWidth - own.width - 8);
      const above = box.top - own.height - 8;
      tip.style.left = `${left}px`;
      tip.style.top = `${above > 4 ? above : box.bottom + 8}px`;
    }
    const hide = () => { tip.hidden = true; };
    document.addEventListener("mouseover", (event) => { const found = holder(event); if (found) show(found); else hide(); });
    document.addEventListener("focusin", (event) => { const found = holder(event); if (found && event.target.matches(":focus-visible")) show(found); else hide(); });
    document.addEventListener("focusout", hide);
    document.addEventListener("scroll", hide, { passive: true, capture: true });
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  }

  // Chips: by filter, the values that are switched on.
  function chips(within, changed) {
    const buttons = all(".chip", within);
    const chosen = () => {
      const on = {};
      for (const button of buttons) {
        const values = (on[button.dataset.filter] ??= new Set());
        if (button.getAttribute("aria-pressed") === "true") values.add(button.dataset.value);
      }
      return on;
    };
    for (const button of buttons) {
      button.addEventListener("click", () => {
        button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") === "true" ? "false" : "true");
        changed();
      });
    }
    return chosen;
  }

  function board() {
    const table = one("board"), tools = one("board-tools"), find = one("find"), pick = one("sort"), status = one("board-status");
    if (!table) return;
    const rows = all("tr.row", table), bodies = all("tbody", table), marks = all(".chart [data-block]");
    let key = "board", up = true;
    const chosen = chips(tools, filter);

    // On a phone a long block below the first is folded until it is asked for, or something is searched, sorted or filtered.
    function fold(body) {
      const many = all("tr.row", body).length;
      if (!narrow.matches || body === bodies[0] || many <= 3) return;
      const button = make("button", { type: "button", class: "quiet" }, `Show ${plural(many, "row")}`);
      body.classList.add("folded");
      body.querySelector(".head th").append(button);
      button.addEventListener("click", () => body.classList.remove("folded"));
    }
    const unfolded = () => { for (const body of bodies) body.classList.remove("folded"); };
    bodies.forEach(fold);
    tools.addEventListener("input", unfolded);
    tools.addEventListener("click", unfolded);

    function filter() {
      const on = chosen(), text = find.value.trim().toLowerCase();
      const off = ({ dataset: { block, tier, weights } }) =>
        !on.block.has(block) || (tier !== undefined && !on.tier.has(tier)) || (weights !== undefined && !on.weights.has(weights));
      for (const row of rows) row.hidden = off(row) || !row.dataset.name.toLowerCase().includes(text);
      for (const mark of marks) mark.toggleAttribute("hidden", off(mark));
      for (const body of bodies) body.hidden = !all("tr.row", body).some((row) => !row.hidden);
      say();
    }
    function say() {
      const name = pick.selectedOptions[0].textContent;
      status.textContent = `${plural(rows.filter((row) => !row.hidden).length, "row")}, by ${name}${key === "board" ? "" : up ? ", lowest first" : ", highest first"}${table.classList.contains("unflagged") ? "; without flagged customers" : ""}.`;
    }
    function value(row) {
      if (key === "board") return Number(row.dataset.place);
      if (key === "name") return row.dataset.name.toLowerCase();
      const { v, vUnflagged } = row.querySelector(`td[data-key="${CSS.escape(key)}"]`).dataset;
      const text = table.classList.contains("unflagged") ? vUnflagged : v;
      return text === "" ? null : Number(text);
    }
    function order() {
      for (const body of bodies) {
        const mine = all("tr.row", body).map((row) => [value(row), row]);
        mine.sort(([a], [b]) => (a === b ? 0 : a === null ? 1 : b === null ? -1 : (a < b ? -1 : 1) * (up ? 1 : -1)));
        body.append(...mine.map(([, row]) => row));
      }
      for (const head of all("thead th[data-key]", table)) {
        if (head.dataset.key === key) head.setAttribute("aria-sort", up ? "ascending" : "descending");
        else head.removeAttribute("aria-sort");
      }
      for (const cell of all("td[data-key]", table)) cell.classList.toggle("sorted", cell.dataset.key === key);
      pick.value = key;
      say();
    }
    function sortBy(next) {
      const head = table.querySelector(`th[data-key="${CSS.escape(next)}"]`);
      up = next === key ? !up : head?.dataset.better !== "high";
      key = next;
      order();
    }
    for (const button of all(".sort", table)) button.addEventListener("click", () => sortBy(button.dataset.sort));
    pick.addEventListener("change", () => { const next = pick.value; key = null; sortBy(next); });
    find.addEventListener("input", filter);
    tools.addEventListener("submit", (event) => event.preventDefault());
    one("columns").addEventListener("click", (event) => {
      event.currentTarget.setAttribute("aria-pressed", String(table.classList.toggle("all")));
    });
    one("unflagged")?.addEventListener("click", (event) => {
      event.currentTarget.setAttribute("aria-pressed", String(table.classList.toggle("unflagged")));
      order();
    });
    tools.hidden = false;
    say();
  }

  function caseList() {
    const tools = one("list-tools"), find = one("list-find"), status = one("list-status");
    if (!tools) return;
    const items = all(".list.cases > li"), most = shorten(document.querySelector(".list.cases"), filter);
    const chosen = chips(tools, filter);
    function filter() {
      const on = chosen(), words = find.value.trim().toLowerCase().split(/\s+/);
      const fits = items.filter((item) => on.bucket.has(item.dataset.bucket) && words.every((word) => item.dataset.text.includes(word)));
      const shown = new Set(fits.slice(0, most(fits.length)));
      for (const item of items) item.hidden = !shown.has(item);
      status.textContent = `${plural(fits.length, "case")}.`;
    }
    find.addEventListener("input", filter);
    tools.addEventListener("submit", (event) => event.preventDefault());
    tools.hidden = false;
    filter();
  }

  function compare() {
    const tools = one("compare-tools");
    if (!tools) return;
    const { metrics, cases, states, entries, start, pairs, outcomes, largest } = data("compare-data");
    const first = one("first"), second = one("second"), rows = one("compare-rows"), list = one("differ-list");
    const most = shorten(list, () => update());
    for (const select of [first, second]) entries.forEach((entry, i) => select.append(make("option", { value: i }, `${entry.name} (${entry.block})`)));
    const kept = new URLSearchParams(location.hash.slice(1));
    const place = (name, usual) => { const at = entries.findIndex((entry) => entry.page === kept.get(name)); return at < 0 ? Math.min(usual, entries.length - 1) : at; };
    first.value = place("a", start[0]);
    second.value = place("b", start[1]);

    const box = (attributes, ...inside) => make("td", { role: "cell", ...attributes }, ...inside);
    const unbroken = (text) => text.split(/(\S+-\S+)/).map((part, i) => (i % 2 ? make("span", { class: "whole" }, part) : part));  // no break inside a name
    const turned = (text) => text.replace(/^[+−]/, (sign) => (sign === "+" ? "−" : "+"));
    const pairOf = (a, b) => (a < b ? `${a}-${b}` : `${b}-${a}`);
    const testOf = (metric, a, b) => pairs[metric.key]?.[pairOf(a, b)];
    function difference(metric, a, b) {
      const test = testOf(metric, a, b);
      if (a === b || !test) return box({ class: "none" }, "–");
      const [value, , , like, level, these, , thin, words] = test;
      if (!value) return box({ class: "none" }, "–", make("small", {}, "no case has a value for both"));
      const shown = `${a < b ? value : turned(value)}${metric.points}`;
      if (!words) return box({}, shown, make("small", {}, "shown, not tested"));
      const ends = ([low, high, why, sure], what) => (low ? [make("small", {}, `${what}, ${sure}: ${(a < b ? [low, high] : [turned(high), turned(low)]).join(" to ")}${metric.points}${why ? ` (${why})` : ""}`)] : []);
      const said = words.includes("% interval ") && !words.startsWith("on these");  // a clear verdict already contains the interval
      return box({}, shown, make("small", {}, make("strong", {}, words)), ...(said ? [] : ends([...like, "", level], `${metric.noun}s like these`)), ...ends(these, `these ${metric.noun}s`), ...(thin ? [make("small", {}, thin)] : []));
    }
    const link = (text, href, tip) => (href && text !== "–" ? make("a", { class: "n", href, "data-tip": tip }, text) : text);
    function cell(metric, mine, other) {
      const [text, interval, behind, every, valued] = entries[mine].values[metric.key], test = testOf(metric, mine, other), place = mine < other ? 0 : 1;
      const own = link(text, behind, "the conversations behind it");
      if (!test) return box({}, own, make("small", {}, interval));
      const theirs = new Set(entries[other].values[metric.key][4]), shared = valued.filter((c) => theirs.has(c));
      const only = shared.length < valued.length ? `%20${address(new URLSearchParams(shared.map((c) => ["case_id", cases[c].id]))).slice(1)}` : "";
      const mean = link(test[1 + place], every && every + only, "the conversations of all trials behind it");
      return box({ class: test[6] === place ? "better" : "" }, mean, make("small", {}, "board: ", own, ...(interval ? ["; ", interval] : [])));
    }
    function squares(e, c) {
      const signs = [...entries[e].outcomes[c]].map((letter, i) => [letter, i + 1]).filter(([letter]) => states[letter]);
      const name = { g: "good", b: "bad", c: "corrupt", u: "unsafe", n: "none" };
      return make("span", { class: "squares" }, ...signs.map(([letter, trial]) =>
        make("a", { class: `sq ${name[letter]}`, href: talkPage(entries[e], cases[c], trial), "aria-label": `${entries[e].name}, trial ${trial}: ${states[letter].word}` }, states[letter].sign)));
    }
    // The first trial that both played, side by side.
    function both(a, b, c) {
      const at = [...entries[a].outcomes[c]].findIndex((letter, i) => states[letter] && states[entries[b].outcomes[c][i]]), [first, second] = [a, b].map((e) => talkPage(entries[e], cases[c], at + 1));
      return at < 0 || !first.includes("#") ? [] : [make("small", {}, make("a", { href: `beside.html#a=${first.split("#")[1]}&b=${second.split("#")[1]}` }, "side by side"))];
    }
    const good = (e, c) => { const text = entries[e].outcomes[c].replaceAll(".", "").replaceAll("n", ""); return text ? [...text].filter((x) => x === "g").length / text.length : null; };
    const differIn = (a, b, c) => Object.entries(entries[a].means).filter(([title, of]) => c in of && c in entries[b].means[title] && of[c] !== entries[b].means[title][c]).map(([title]) => title);

    function update() {
      const a = Number(first.value), b = Number(second.value);
      for (const [id, entry] of [["name-a", entries[a]], ["name-b", entries[b]]]) {
        one(id).replaceChildren(entry.name, ...(entry.settings ? [make("small", {}, entry.settings)] : []));
      }
      rows.replaceChildren(...metrics.map((metric) => make("tr", { role: "row" }, make("th", { role: "rowheader", scope: "row" }, metric.title, ...(metric.direction ? [make("small", {}, metric.direction)] : [])), cell(metric, a, b), cell(metric, b, a), difference(metric, a, b))));
      const shared = cases.map((view, c) => [c, good(a, c), good(b, c)]).filter(([, x, y]) => x !== null && y !== null);
      const apart = shared.map((row) => [...row, differIn(a, b, row[0])]).filter((row) => row[3].length);
      apart.sort((m, n) => Math.abs(n[1] - n[2]) - Math.abs(m[1] - m[2]) || m[0] - n[0]);
      list.replaceChildren(make("li", { class: "names" }, make("b", {}, "Case"), ...[a, b].map((e) => make("b", {}, entries[e].name))), ...apart.slice(0, most(apart.length)).map(([c, , , titles]) => make("li", {}, make("div", {}, make("a", { href: pageName.test(cases[c].page) ? `cases/${cases[c].page}.html` : "cases.html" }, cases[c].title),
        make("small", {}, [...new Set([cases[c].bucket, cases[c].intent])].join(" · ").replaceAll("_", " ")), make("small", {}, `differ in: ${titles.join(", ")}`), ...both(a, b, c)), squares(a, c), squares(b, c))));
      one("differ-note").textContent = a === b ? "Choose two different models." : `${plural(apart.length, "case")} of the ${shared.length} that both played differ in success or in a planned metric; the largest difference in success comes first.`;
      one("compare-numbers").hidden = one("compare-cases").hidden = false;
      one("compare-status").replaceChildren(...unbroken(outcomes[pairOf(a, b)] ?? `${entries[a].name} and ${entries[b].name}.`));
      one("compare-largest").replaceChildren(...unbroken(largest[pairOf(a, b)] ?? ""));
      history.replaceState(null, "", `#a=${encodeURIComponent(entries[a].page)}&b=${encodeURIComponent(entries[b].page)}`);
    }
    first.addEventListener("change", update);
    second.addEventListener("change", update);
    one("swap").addEventListener("click", () => { [first.value, second.value] = [second.value, first.value]; update(); });
    tools.addEventListener("submit", (event) => event.preventDefault());
    tools.hidden = false;
    update();
  }

  // Keys of the page: a letter does what its help says unless something is being typed; "?" lists them.
  const keys = new Map();
  const addKeys = (more) => { for (const [key, [words, act]] of Object.entries(more)) keys.set(key, [words, act]); };
  const typing = (element) => element instanceof Element && element.matches("input, select, textarea");

  function help() {
    addKeys({ "/": ["search", () => { const field = one("talk-q") ?? one("list-find") ?? one("find"); if (field) field.focus(); else location.href = document.body.dataset.search; }] });
    const panel = make("div", { class: "help", role: "dialog", "aria-label": "Keys", tabindex: "-1", hidden: "" });
    document.body.append(panel);
    const close = () => { panel.hidden = true; };
    function toggle() {
      const row = (key, words) => make("div", {}, make("dt", {}, make("kbd", {}, key)), make("dd", {}, words));
      panel.replaceChildren(make("b", {}, "Keys"), make("dl", {}, ...[...keys].map(([key, [words]]) => row(key, words)), row("?", "these keys"), row("Esc", "close, or leave a field")));
      panel.hidden = !panel.hidden;
      if (!panel.hidden) panel.focus();
    }
    const button = one("keys");
    button.hidden = false;
    button.addEventListener("click", toggle);
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { close(); if (typing(event.target)) event.target.blur(); return; }
      if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
      const act = event.key === "?" ? toggle : keys.get(event.key)?.[1];
      if (!act) return;
      event.preventDefault();
      act();
    });
  }

  // On a phone the long sections of a long page are folded, but the first only if there is a list of contents above it;
  // what an address or a link points to is unfolded.
  const narrow = matchMedia("(max-width: 46rem)");
  const LONG_PAGE = 3500, LONG_SECTION = 450, LONGEST_FIRST = 3000, FEW = 20;
  function short() {
    const parts = all("main section").filter((part) => part.firstElementChild?.matches("h2") && !part.closest("details"));
    if (!narrow.matches || window.top !== window || root.scrollHeight < LONG_PAGE) return;
    const first = document.querySelector(".contents") ? LONGEST_FIRST : Infinity;
    const tall = parts.filter((part, at) => part.scrollHeight > (at ? LONG_SECTION : first));
    for (const part of tall) {
      const title = part.firstElementChild, rest = [...part.childNodes].filter((node) => node !== title);
      part.append(make("details", { class: "fold" }, make("summary", {}, title), ...rest));
    }
    addEventListener("hashchange", unfold);
    document.addEventListener("click", (event) => { if (event.target instanceof Element && event.target.closest('a[href^="#"]')) setTimeout(unfold); });
    unfold();
  }
  function unfold() {
    const aim = one(decodeURIComponent(location.hash.slice(1)));
    if (!aim) return;
    const own = aim.firstElementChild?.matches("details.fold") ? aim.firstElementChild : null;
    let opened = false;
    for (let fold = own ?? aim.closest("details"); fold; fold = fold.parentElement.closest("details")) { opened ||= !fold.open; fold.open = true; }
    if (opened) aim.scrollIntoView();
  }

  // On a phone a long list begins with a few; a button shows the rest. Returns how many may be shown now.
  function shorten(list, again) {
    let few = narrow.matches;
    const button = make("button", { type: "button", class: "quiet", hidden: "" });
    list.after(button);
    button.addEventListener("click", () => { few = false; again(); });
    return (count) => {
      button.hidden = !few || count <= FEW;
      button.textContent = `Show all ${count.toLocaleString("en")}`;
      return few ? FEW : Infinity;
    };
  }

  // Folded parts are unfolded for printing, and folded again afterwards.
  function printing() {
    let opened = [];
    addEventListener("beforeprint", () => { opened = all("details:not([open])"); for (const part of opened) part.open = true; });
    addEventListener("afterprint", () => { for (const part of opened) part.open = false; });
  }

  Object.assign(globalThis.deskbench, { all, one, data, addKeys });

  document.addEventListener("DOMContentLoaded", () => {
    for (const part of [theme, tooltips, board, caseList, compare, help, printing, short]) part();
    root.dataset.ready = "yes";
  });
})();
