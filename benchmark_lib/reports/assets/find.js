// The list of transcripts: a filter that is kept in the address, the search through all messages, and pages.
// Text of models and customers is only ever written as text.
(() => {
  "use strict";

  const { all, one, make, data, plural, talkPage, unpacked, addKeys, step, packed, parsed, address: place } = globalThis.deskbench;
  const PAGE = 25, SNIPPETS = 3, AROUND = 90, WALKED = 5_000;
  const LETTERS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const APART = ["find", "q", "page", "sample", "seed"], DRAWN = 20;
  const PICKED = ["entry", "bucket", "outcome", "ended_by", "labelled"];
  const words = (text) => text.replaceAll("_", " ");

  // A column: its values, and of each row the place of its value (-1 where it has none).
  function column({ values, codes }) {
    return { values, codes: typeof codes === "string" ? Int16Array.from(codes, (letter) => LETTERS.indexOf(letter)) : codes };
  }

  // Text as it is searched: the same plain letters as in the explorer, see benchmark_lib.language.folding.
  const fold = (text) => text.toLowerCase().replaceAll("ß", "ss").replace(/[\u00a0\u202f\u2009\n\t]/g, " ").replace(/[–—‑−]/g, "-").replace(/[’‘]/g, "'").replaceAll("*", "");
  const terms = (text) => [...fold(text.replace(/[“”]/g, '"')).matchAll(/"([^"]+)"|(\S+)/g)].map((m) => (m[1] ?? m[2]).replace(/^"+|"+$/g, "")).filter(Boolean);

  // A random number for a conversation, from its name and the seed alone: the same as `draws` of benchmark_lib.reports.explorer.sample.
  function draw(key, seed) {
    let found = -1;
    for (const byte of new TextEncoder().encode([seed, ...key].join(" "))) {
      found ^= byte;
      for (let bit = 0; bit < 8; bit += 1) found = (found >>> 1) ^ (found & 1 ? 0xedb88320 : 0);
    }
    found = ~found;
    for (const [shift, factor] of [[16, 0x85ebca6b], [13, 0xc2b2ae35], [16, 1]]) found = Math.imul(found ^ (found >>> shift), factor);
    return found >>> 0;
  }

  // The rows with the smallest numbers, in their order; equal numbers in the order of their names.
  function drawn(rows, size, seed, keyOf) {
    const named = rows.map((row) => [draw(keyOf(row), seed), keyOf(row), row]);
    const before = (a, b) => { const at = a.findIndex((part, i) => part !== b[i]); return at < 0 ? 0 : a[at] < b[at] ? -1 : 1; };
    return named.sort(([a, mine], [b, other]) => a - b || before(mine, other)).slice(0, size).map(([, , row]) => row);
  }

  // All messages: the distinct texts, and of each conversation its messages (twice the text's place, plus one if the agent wrote it).
  let messages = null;
  async function load() {
    const [spoken, ...parts] = await Promise.all(packed.map(unpacked));
    const texts = parts.flat();
    return { spoken, texts, folded: texts.map(fold) };
  }

  function talkList() {
    const tools = one("talk-tools");
    if (!tools) return;
    const { entries, cases, signs, page, why, fields } = data("talk-data");
    const columns = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, column(field)]));
    const pages = column(page), whys = column(why), count = pages.codes.length;
    const byPage = new Map(entries.map((entry) => [entry.page, entry])), byCase = new Map(cases.map((view) => [view.id, view]));
    const value = (name, row) => columns[name]?.values[columns[name].codes[row]];
    const texts = new Map(cases.map((view) => [view.id, `${view.title} ${view.intent} ${view.id} ${view.language}`.toLowerCase()]));
    const searching = packed.length > 0;
    const list = one("talk-list"), status = one("talk-status"), find = one("talk-find"), q = one("talk-q"), chosen = one("talk-chosen"), pager = one("talk-pager");
    const pick = Object.fromEntries(PICKED.map((name) => [name, one(`talk-${name}`)]));
    for (const name of PICKED.slice(0, -1)) for (const text of columns[name]?.values ?? []) pick[name].append(make("option", { value: text }, name === "entry" ? text : words(text)));

    let labelled = new Set();
    const keyOf = (row) => ["run_id", "case_id", "trial"].map((name) => value(name, row));
    const isLabelled = (row) => labelled.has(JSON.stringify(keyOf(row)));
    const address = () => new URLSearchParams(parsed(location.hash.slice(1)));
    const seedOf = (kept) => Math.max(0, Math.floor(Number(kept.get("seed")) || 0));

    // The rows that match every field of the address; a field that is not known matches nothing, and is named.
    function filtered(kept) {
      let rows = [...Array(count).keys()];
      const unknown = [];
      for (const name of new Set(kept.keys())) {
        if (APART.includes(name)) continue;
        const wanted = kept.getAll(name);
        if (name === "labelled") { rows = rows.filter((row) => isLabelled(row) === wanted.includes("yes")); continue; }
        const found = columns[name];
        if (!found) { unknown.push(name); rows = []; continue; }
        const fits = (own) => wanted.includes("known") || (Array.isArray(own) ? own.some((one) => wanted.includes(one)) : wanted.includes(own));
        const right = found.values.map(fits);
        rows = rows.filter((row) => right[found.codes[row]] === true);
      }
      const sought = (kept.get("find") ?? "").trim().toLowerCase().split(/\s+/).filter(Boolean);
      if (sought.length) rows = rows.filter((row) => sought.every((word) => texts.get(value("case_id", row)).includes(word) || value("entry", row).toLowerCase().includes(word)));
      return { rows, unknown };
    }

    // Which messages hold a word of the search, by row; only of conversations in which every word occurs.
    function searched(rows, sought) {
      const hits = sought.map((term) => messages.folded.map((text) => text.includes(term)));
      const found = new Map();
      for (const row of rows) {
        const spoken = messages.spoken[row];
        if (hits.every((hit) => spoken.some((code) => hit[code >> 1]))) found.set(row, spoken.flatMap((code, i) => (hits.some((hit) => hit[code >> 1]) ? [[i + 1, code]] : [])));
      }
      return found;
    }

    // A message as a snippet shows it, without the marks of Markdown. Whole words are shown and marked before parts of words.
    const plain = (code) => messages.texts[code >> 1].replace(/\*\*|`/g, "");
    function snippet(href, [number, code], [whole, part]) {
      const text = plain(code), pattern = whole.test(text) ? whole : part;
      const first = text.search(pattern), from = Math.max(0, first - AROUND);
      const parts = text.slice(from, Math.max(first, 0) + 2 * AROUND).split(pattern);
      const shown = parts.map((part, i) => (i % 2 ? make("mark", {}, part) : part));
      return make("a", { class: "hit-line", href: `${href}/m${number}`, dir: "auto" }, make("b", {}, `${code & 1 ? "Agent" : "Customer"}, message ${number} `), from ? "… " : "", ...shown, " …");
    }

    function item(row, hits, pattern) {
      const view = byCase.get(value("case_id", row)), entry = byPage.get(pages.values[pages.codes[row]]), outcome = value("outcome", row), trial = value("trial", row);
      const href = talkPage(entry, view, trial);
      const about = `${view.intent} · trial ${trial} · ${words(value("ended_by", row) ?? "")}${isLabelled(row) ? " · labelled" : ""}`;
      const hidden = address().has("sample") && !isLabelled(row), { key, sign } = hidden ? { key: "none", sign: "?" } : signs[outcome];
      const exact = (hits ?? []).filter(([, code]) => pattern[0].test(plain(code))), found = exact.length ? exact : hits ?? [];
      const lines = found.slice(0, SNIPPETS).map((hit) => snippet(href, hit, pattern));
      const rest = found.length - lines.length;
      return make("li", {}, make("span", { class: `sq ${key}`, "aria-hidden": "true" }, sign),
        make("div", {}, make("a", { href, class: "talk-link" }, view.title), make("small", {}, about), ...lines, ...(rest > 0 ? [make("small", {}, `and ${plural(rest, "more message")}`)] : [])),
        make("div", {}, make("bdi", {}, hidden ? "" : entry.name), make("small", {}, hidden ? "not labelled yet" : [outcome, whys.values[whys.codes[row]]].filter(Boolean).join(": "))));
    }

    // Fields of the address that have no control of their own, each with a button that drops it.
    function chips(kept) {
      const names = [...new Set(kept.keys())].filter((name) => (name === "sample" || !APART.includes(name)) && !(PICKED.includes(name) && kept.getAll(name).length === 1));
      chosen.hidden = names.length === 0;
      chosen.replaceChildren(...names.map((name) => {
        const button = make("button", { type: "button", class: "quiet", "aria-label": `Drop the filter ${words(name)}` }, `${words(name)}: ${kept.getAll(name).map(words).join(" or ")} ×`);
        button.addEventListener("click", () => { const next = address(); next.delete(name); next.delete("page"); location.hash = place(next); });
        return button;
      }));
    }

    // Of how many: the same filter with every flag "yes" or "no" known instead. The others: with its flag turned, where it has one.
    // Leaving out flagged customers chooses what is counted, and stays as it is.
    function around(kept) {
      const pairs = [...kept].filter(([name]) => name !== "page"), isFlag = ([name, text]) => (text === "yes" || text === "no") && name !== "labelled" && `${name}=${text}` !== "customer_flagged=no";
      const turned = (to) => new URLSearchParams(pairs.map((pair) => [pair[0], isFlag(pair) ? to(pair[1]) : pair[1]]));
      const flags = pairs.filter(isFlag).length;
      return { wider: flags ? turned(() => "known") : null, others: flags === 1 ? turned((text) => (text === "yes" ? "no" : "yes")) : null };
    }

    const listed = (row) => talkPage(byPage.get(pages.values[pages.codes[row]]), byCase.get(value("case_id", row)), value("trial", row));

    // A sample is a queue on the pages of its transcripts, in this order.
    function keepSample(rows) {
      const talks = rows.map((row) => [listed(row), ...keyOf(row)]);
      globalThis.deskbench.labels.keepSample({ talks, list: place(address()) });
    }

    // The list is walked on the pages of its transcripts, in this order; a sample is a queue of its own.
    function keepList(rows) {
      const walked = rows.length <= WALKED && !address().has("sample");
      const kept = { root: new URL(".", location.href).href, search: searching, filter: place(address()).slice(1), talks: walked ? rows.map(listed) : [] };
      try { sessionStorage.setItem("deskbench-list", JSON.stringify(kept)); } catch { /* this browser keeps nothing */ }
    }

    let now = { rows: [], pages: 1, page: 1 };
    async function show() {
      const kept = address();
      labelled = globalThis.deskbench.labels.keys();
      globalThis.deskbench.labels.panel();
      find.value = kept.get("find") ?? "";
      q.value = kept.get("q") ?? "";
      for (const name of PICKED) pick[name].value = kept.getAll(name).length === 1 ? kept.get(name) : "";
      const other = one("talk-other");
      if (other) other.href = `transcripts.html${place(kept)}`;
      one("talk-named").hidden = !kept.has("sample");
      chips(kept);
      const { rows: fitting, unknown } = filtered(kept);
      const sought = searching ? terms(q.value) : [];
      let rows = fitting, hits = new Map(), pattern = null;
      if (sought.length) {
        status.textContent = "Searching …";
        try { messages ??= await load(); } catch { status.textContent = "The messages could not be read: this browser cannot unpack them, or the folder search is missing."; return; }
        if (String(address()) !== String(kept)) return;
        hits = searched(fitting, sought);
        rows = [...hits.keys()];
        const any = `(${sought.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("'", "['’‘]").replaceAll(" ", "\\s+")).join("|")})`;
        pattern = [`(?<![\\p{L}\\p{N}])${any}(?![\\p{L}\\p{N}])`, any].map((found) => new RegExp(found, "iu"));
      }
      const size = Math.floor(Number(kept.get("sample")));
      if (size > 0) {
        // Without a score the record has no answer, and the explorer does not draw the conversation either.
        rows = drawn(rows.filter((row) => signs[value("outcome", row)].key !== "none"), size, seedOf(kept), keyOf);
        keepSample(rows);
      }
      keepList(rows);
      const last = Math.max(1, Math.ceil(rows.length / PAGE)), at = Math.min(Math.max(1, Number(kept.get("page")) || 1), last);
      now = { rows, pages: last, page: at };
      list.replaceChildren(...rows.slice((at - 1) * PAGE, at * PAGE).map((row) => item(row, hits.get(row), pattern)));
      pager.hidden = last === 1;
      one("talk-page").textContent = `Page ${at} of ${last}`;
      one("talk-before").disabled = at === 1;
      one("talk-after").disabled = at === last;
      say(kept, rows, unknown);
    }

    function say(kept, rows, unknown) {
      if (unknown.length) { status.textContent = `0 conversations: there is no field ${unknown.join(", ")} here.`; return; }
      const many = (name, noun) => plural(new Set(rows.map((row) => columns[name].codes[row])).size, noun);
      const { wider, others } = around(kept);
      status.textContent = `${plural(rows.length, "conversation")}${rows.length ? ` of ${many("case_id", "case")}` : ""}`;
      if (wider && !kept.get("q") && !kept.get("sample")) {
        const all = filtered(wider).rows.length, left = (all - rows.length).toLocaleString("en");
        status.append(", out of ", make("a", { href: place(wider) }, all.toLocaleString("en")));
        if (others && all > rows.length) status.append("; ", make("a", { href: place(others) }, `the other ${left}`));
      }
      if (kept.get("sample")) sayDrawn(kept, rows);
      status.append(rows.length > PAGE ? `; ${PAGE} to a page.` : ".");
    }

    function sayDrawn(kept, rows) {
      const open = rows.filter((row) => !isLabelled(row)), begun = open.length < rows.length;
      status.append(`, drawn by chance with seed ${seedOf(kept)}. The same address draws the same for another labeller, and so does the explorer with the same filters, size and seed, asked about success. `);
      if (open.length) status.append(make("a", { href: listed(open[0]) }, begun ? `Label the ${open.length} left` : "Begin to label"));
      else if (rows.length) status.append("All are labelled");
    }

    function change(name, text, quietly = false) {
      const next = address();
      next.delete("page");
      if (text === "") next.delete(name); else next.set(name, text);
      if (!quietly) { location.hash = place(next); return; }
      history.replaceState(null, "", place(next));
      show();
    }
    function turn(by) {
      const to = Math.min(Math.max(now.page + by, 1), now.pages);
      if (to === now.page) return;
      const next = address();
      next.set("page", String(to));
      location.hash = place(next);
      scrollTo({ top: 0 });
    }

    find.addEventListener("input", () => change("find", find.value.trim(), true));
    for (const name of PICKED) pick[name].addEventListener("change", () => change(name, pick[name].value));
    let wait = 0;
    if (searching) q.addEventListener("input", () => { clearTimeout(wait); wait = setTimeout(() => change("q", q.value.trim(), true), 250); });
    tools.addEventListener("submit", (event) => {
      event.preventDefault();
      clearTimeout(wait);
      if (searching) { change("q", q.value.trim(), true); return; }
      const next = address();
      next.delete("page");
      next.set("q", q.value.trim());
      location.href = `search.html${place(next)}`;
    });
    one("talk-sample").addEventListener("click", () => {
      const next = address(), seed = seedOf(next);
      next.delete("page");
      next.set("seed", String(next.has("sample") ? seed + 1 : seed));
      next.set("sample", String(DRAWN));
      location.hash = place(next);
    });
    globalThis.deskbench.labels.nameField(one("talk-labeller"), show);
    one("talk-before").addEventListener("click", () => turn(-1));
    one("talk-after").addEventListener("click", () => turn(1));
    addEventListener("hashchange", show);
    const links = () => all("a.talk-link", list);
    addKeys({
      j: ["next conversation in the list", () => step(links(), 1)],
      k: ["previous conversation in the list", () => step(links(), -1)],
      n: ["next page of the list", () => turn(1)],
      p: ["previous page of the list", () => turn(-1)],
    });
    addEventListener("pageshow", ({ persisted }) => { if (persisted) show(); });
    tools.hidden = false;
    show();
  }

  document.addEventListener("DOMContentLoaded", talkList);
})();
