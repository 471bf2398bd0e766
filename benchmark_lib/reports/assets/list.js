// The list of conversations: a query, the fields to choose by, the search through all messages, samples to label, and pages.
// A host (a page of the site, or JupyterLab) says where the list goes and where its data comes from. Text from models and customers is only ever written as text.
(() => {
  "use strict";

  const { make, plural, talkPage, step, written, parsed, address: place, fold } = globalThis.deskbench;
  const PAGE = 25, SNIPPETS = 3, AROUND = 90, DRAWN = 20;
  const LETTERS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const APART = ["find", "q", "page", "order", "sample", "seed", "per", "question"];
  const PICKED = { entry: "Model", bucket: "Kind", outcome: "Outcome", reason: "Main reason", ended_by: "Ended", labelled: "Labelled" };
  const GROUPS = { entry: "model", bucket: "kind", intent: "intent", kind: "trap kind", answer: "answer on record" };
  const DRAWS = "A random sample of the filtered conversations, one after another, with the verdicts hidden until you have answered: "
    + "y yes, n no, c cannot tell, s skip. Press again for another sample.";
  const words = (text) => text.replaceAll("_", " ");
  const terms = (text) => [...fold(text.replace(/[“”]/g, '"')).matchAll(/"([^"]+)"|(\S+)/g)].map((m) => (m[1] ?? m[2]).replace(/^"+|"+$/g, "")).filter(Boolean);

  // A column: its values, and for each row the place of its value (-1 if it has none).
  function column({ values, codes }) {
    return { values, codes: typeof codes === "string" ? Int16Array.from(codes, (letter) => LETTERS.indexOf(letter)) : Int16Array.from(codes) };
  }

  // A random number for a conversation, from its name and the seed alone: the CRC-32 of both, mixed by the last steps of MurmurHash3.
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

  // The rows with the smallest numbers, in order; equal numbers are ordered by name. Each group contributes the same number, as far as it can.
  function drawn(rows, size, seed, keyOf, groupOf) {
    const named = rows.map((row) => [draw(keyOf(row), seed), keyOf(row), row]), count = new Map();
    const before = (a, b) => { const at = a.findIndex((part, i) => part !== b[i]); return at < 0 ? 0 : a[at] < b[at] ? -1 : 1; };
    const ordered = named.sort(([a, mine], [b, other]) => a - b || before(mine, other)).map(([, , row], at) => {
      const group = groupOf(row);
      count.set(group, (count.get(group) ?? 0) + 1);
      return [count.get(group), at, row];
    });
    return ordered.sort((a, b) => a[0] - b[0] || a[1] - b[1]).slice(0, size).sort((a, b) => a[1] - b[1]).map(([, , row]) => row);
  }

  function list(host, { entries, cases, signs, page, why, fields, numbers = {}, questions = {} }) {
    const columns = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, column(field)]));
    const asked = Object.fromEntries(Object.entries(questions).map(([name, question]) => [name, column(question)]));
    const pages = column(page), whys = column(why), count = pages.codes.length, rows = [...Array(count).keys()];
    const byPage = new Map(entries.map((entry) => [entry.page, entry])), byCase = new Map(cases.map((view) => [view.id, view]));
    const value = (name, row) => columns[name]?.values[columns[name].codes[row]];
    const texts = new Map(cases.map((view) => [view.id, `${view.title} ${view.intent} ${view.id} ${view.language}`.toLowerCase()]));
    const titleOf = (name) => PICKED[name] ?? `${name[0].toUpperCase()}${words(name.slice(1))}`;
    const keyOf = (row) => ["run_id", "case_id", "trial"].map((name) => value(name, row));
    const entryOf = (row) => byPage.get(pages.values[pages.codes[row]]), caseOf = (row) => byCase.get(value("case_id", row));
    const hrefOf = (row) => talkPage(entryOf(row), caseOf(row), value("trial", row));
    const seedOf = (kept) => Math.max(0, Math.floor(Number(kept.get("seed")) || 0));
    const questionOf = (kept) => kept.get("question") || "success";
    const answers = (kept) => asked[questionOf(kept)] ?? columns[questionOf(kept)];
    let labelled = new Set();
    const isLabelled = (row) => labelled.has(JSON.stringify(keyOf(row)));

    // --- what is on screen
    const button = (id, text, act, more = {}) => {
      const made = make("button", { type: "button", class: "quiet", id, ...more }, text);
      made.addEventListener("click", act);
      return made;
    };
    const labelOf = (title, input, more = "") => make("label", { class: `field ${more}` }, `${title} `, input);
    const input = (id, more = {}) => make("input", { id, autocomplete: "off", ...more });
    const choice = (id, options, name) => {
      const made = make("select", { id }, ...options.map(([text, shown]) => make("option", { value: text }, shown)));
      if (name) made.addEventListener("change", () => change(name, made.value));
      return made;
    };
    const query = input("talk-query", { placeholder: 'bucket=adversarial unsafe=yes entry="gpt-5.5 [reasoning effort high]"', spellcheck: "false" });
    const q = input("talk-q", { type: "search" }), find = input("talk-find", { type: "search", placeholder: "title, intent, id, model" });
    const facets = make("p", { class: "tools facets" }), boxes = new Map();
    const others = Object.keys(columns).filter((name) => !(name in PICKED)).sort().map((name) => [name, words(name)]);
    const more = choice("talk-more", [["", "more fields …"], ...others]);
    const moreField = make("span", { class: "field" }, more);
    more.ariaLabel = "More fields";
    const order = choice("talk-order", [["", "as listed"], ...Object.keys(numbers).map((name) => [name, `most ${name} first`])], "order");
    const seek = make("form", { class: "tools", id: "talk-tools" }, labelOf("Words in messages", q, "grow sought"),
      make("button", { class: "quiet" }, "Search messages"), labelOf("Case", find, "grow"), labelOf("Sort", order),
      button("talk-sample", `Draw ${DRAWN} to label`, sample, { "data-tip": DRAWS }));
    const size = input("talk-size", { inputmode: "numeric", maxlength: 5 }), per = choice("talk-per", [["", "at random"], ...Object.entries(GROUPS).map(([name, text]) => [name, `equally many per ${text}`])], "per");
    const question = choice("talk-question", Object.entries(questions).map(([name, { title }]) => [name, title]), "question");
    const labeller = host.labels.nameField(input("talk-labeller", { maxlength: 200, autocomplete: "name" }), () => show());
    const named = make("p", { class: "tools", id: "talk-named" }, labelOf("Your name", labeller),
      ...(question.options.length ? [labelOf("Question", question)] : []), labelOf("How many", size), labelOf("Drawn", per),
      button("talk-end", "End the sample", end));
    const chosen = make("p", { class: "chosen", id: "talk-chosen" }), items = make("ul", { class: "list talks", id: "talk-list" });
    const status = make("p", { class: "status", id: "talk-status", role: "status" }), at = make("span", { id: "talk-page" });
    const before = button("talk-before", "Previous", () => turn(-1)), after = button("talk-after", "Next", () => turn(1));
    const pager = make("nav", { class: "pager", id: "talk-pager", "aria-label": "Pages of the list" }, before, " ", at, " ", after);
    host.top.replaceChildren(make("p", { class: "tools" }, labelOf("Query", query, "grow mono")), facets, seek, chosen, named, status, items, pager);

    function box(name) {
      const made = boxes.get(name) ?? choice(`talk-${name}`, [], name);
      if (!boxes.has(name)) { boxes.set(name, made); facets.append(labelOf(titleOf(name), made)); }
      facets.append(moreField);
      return made;
    }

    // --- which conversations
    // For each field of a query, the rows that fit; also the unknown fields.
    function masks(kept) {
      const found = new Map(), unknown = [];
      columns.labelled = { values: ["yes", "no"], codes: Int16Array.from(rows, (row) => (isLabelled(row) ? 0 : 1)) };
      for (const name of new Set(kept.keys())) {
        if (APART.includes(name)) continue;
        const wanted = kept.getAll(name), own = columns[name];
        if (!own) { unknown.push(name); continue; }
        const right = own.values.map((mine) => [mine].flat()).map((mine) => (wanted.includes("known") ? mine.length > 0 : mine.some((text) => wanted.includes(text))));
        found.set(name, Array.from(own.codes, (code) => right[code] === true));
      }
      const sought = (kept.get("find") ?? "").trim().toLowerCase().split(/\s+/).filter(Boolean);
      const said = (row, word) => texts.get(value("case_id", row)).includes(word) || entryOf(row).name.toLowerCase().includes(word);
      if (sought.length) found.set("find", rows.map((row) => sought.every((word) => said(row, word))));
      return { found, unknown };
    }
    const fitting = (found, but) => { const all = [...found].filter(([name]) => name !== but).map(([, mask]) => mask); return rows.filter((row) => all.every((mask) => mask[row])); };
    const filtered = (kept) => { const { found, unknown } = masks(kept); return { found, unknown, rows: unknown.length ? [] : fitting(found) }; };

    // For each field, the values that the other fields leave, with their counts.
    function fill(kept, found) {
      for (const name of Object.keys(PICKED).filter((name) => columns[name])) box(name);
      for (const [name, select] of boxes) {
        const { values, codes } = columns[name], left = new Map(), mine = kept.getAll(name), now = mine.length === 1 ? mine[0] : "";
        for (const row of fitting(found, name)) for (const text of [values[codes[row]] ?? []].flat()) left.set(text, (left.get(text) ?? 0) + 1);
        const every = [...new Set(values.flat())].filter((text) => left.has(text) || text === now);
        const options = every.map((text) => [text, `${name === "entry" ? text : words(text)} (${(left.get(text) ?? 0).toLocaleString("en")})`]);
        if (now && !every.includes(now)) options.push([now, now]);
        select.replaceChildren(...[["", "all"], ...options].map(([text, shown]) => make("option", { value: text }, shown)));
        select.value = now;
      }
    }

    // --- one conversation
    // Whole words are shown and marked before parts of words, without the marks of Markdown.
    const plain = (text) => text.replace(/\*\*|`/g, "");
    function snippet(href, { number, agent, text }, [whole, part]) {
      const own = plain(text), pattern = whole.test(own) ? whole : part, first = own.search(pattern), from = Math.max(0, first - AROUND);
      const shown = own.slice(from, Math.max(first, 0) + 2 * AROUND).split(pattern).map((piece, i) => (i % 2 ? make("mark", {}, piece) : piece));
      return make("a", { class: "hit-line", href: `${href}/m${number}`, dir: "auto" }, make("b", {}, `${agent ? "Agent" : "Customer"}, message ${number} `), from ? "… " : "", ...shown, " …");
    }
    function item(row, kept, hits = [], pattern = []) {
      const view = caseOf(row), outcome = value("outcome", row), trial = value("trial", row), href = hrefOf(row), ranked = kept.get("order");
      const about = `${view.intent} · trial ${trial} · ${words(value("ended_by", row) ?? "")}${ranked ? ` · ${numbers[ranked]?.[row] ?? "–"} ${ranked}` : ""}${isLabelled(row) ? " · labelled" : ""}`;
      const hidden = kept.has("sample") && !isLabelled(row), { key, sign } = hidden ? { key: "none", sign: "?" } : signs[outcome];
      const exact = hits.filter(({ text }) => pattern[0].test(plain(text))), found = exact.length ? exact : hits, rest = found.length - SNIPPETS;
      const lines = found.slice(0, SNIPPETS).map((hit) => snippet(href, hit, pattern));
      return make("li", {}, make("span", { class: `sq ${key}`, "aria-hidden": "true" }, sign),
        make("div", {}, make("a", { href, class: "talk-link" }, view.title), make("small", {}, about), ...lines,
          ...(rest > 0 ? [make("small", {}, `and ${plural(rest, "more message")}`)] : [])),
        make("div", {}, make("bdi", {}, hidden ? "" : entryOf(row).name),
          make("small", {}, hidden ? "not labelled yet" : [outcome, whys.values[whys.codes[row]]].filter(Boolean).join(": "))));
    }

    // Fields without a control of their own, each with a button that drops it.
    function chips(kept) {
      const names = [...new Set(kept.keys())].filter((name) => (name === "sample" || !APART.includes(name)) && !(boxes.has(name) && kept.getAll(name).length === 1));
      chosen.hidden = names.length === 0;
      chosen.replaceChildren(...names.map((name) => {
        const text = `${words(name)}: ${kept.getAll(name).map(words).join(" or ")} ×`;
        return button(`drop-${name.replace(/\W/g, "-")}`, text, () => change(name, ""), { "aria-label": `Drop the filter ${words(name)}` });
      }));
    }

    // --- the status line
    // `wider` is the same filter with "known" in place of every "yes" or "no"; `others` has the only flag inverted.
    // The filter that leaves out flagged customers chooses what is counted, so it stays as it is.
    function around(kept) {
      const pairs = [...kept].filter(([name]) => name !== "page");
      const isFlag = ([name, text]) => (text === "yes" || text === "no") && name !== "labelled" && `${name}=${text}` !== "customer_flagged=no";
      const turned = (to) => new URLSearchParams(pairs.map((pair) => [pair[0], isFlag(pair) ? to(pair[1]) : pair[1]]));
      const flags = pairs.filter(isFlag).length;
      return { wider: flags ? turned(() => "known") : null, others: flags === 1 ? turned((text) => (text === "yes" ? "no" : "yes")) : null };
    }
    function say(kept, shown, unknown) {
      if (unknown.length) { status.textContent = `0 conversations: there is no field ${unknown.join(", ")} here.`; return; }
      const { wider, others } = around(kept);
      status.textContent = `${plural(shown.length, "conversation")}${shown.length ? ` of ${plural(new Set(shown.map((row) => columns.case_id.codes[row])).size, "case")}` : ""}`;
      if (wider && !kept.get("q") && !kept.get("sample")) {
        const all = filtered(wider).rows.length, left = (all - shown.length).toLocaleString("en");
        status.append(", out of ", make("a", { href: place(wider) }, all.toLocaleString("en")));
        if (others && all > shown.length) status.append("; ", make("a", { href: place(others) }, `the other ${left}`));
      }
      if (kept.get("sample")) sayDrawn(kept, shown);
      status.append(shown.length > PAGE ? `; ${PAGE} to a page.` : ".");
    }
    function sayDrawn(kept, shown) {
      const open = shown.filter((row) => !isLabelled(row)), begun = open.length < shown.length;
      const grouped = kept.get("per") ? " Each group has the same number, so a mean over them is not a mean over all conversations." : "";
      status.append(`, drawn at random with seed ${seedOf(kept)}. The same query draws the same conversations for another labeller, on the site and in JupyterLab.${grouped} `);
      if (open.length) status.append(make("a", { href: hrefOf(open[0]), id: "talk-begin" }, begun ? `Label the ${open.length} left` : "Start labelling"));
      else if (shown.length) status.append("All are labelled");
    }

    // --- changing it
    const bare = () => { const next = host.kept(); next.delete("page"); return next; };
    function change(name, text, quietly = false) {
      const next = bare();
      if (text === "") next.delete(name); else next.set(name, text);
      host.go(next, quietly);
    }
    function sample() {
      const next = bare(), seed = seedOf(next);
      next.set("seed", String(next.has("sample") ? seed + 1 : seed));
      if (!next.has("sample")) next.set("sample", String(DRAWN));
      host.go(next);
    }
    function end() {
      const next = bare();
      for (const name of ["sample", "seed", "per", "question"]) next.delete(name);
      host.labels.keepSample(null);
      host.go(next);
    }
    function turn(by) {
      const to = Math.min(Math.max(now.page + by, 1), now.pages), next = host.kept();
      if (to === now.page) return;
      next.set("page", String(to));
      host.go(next);
      host.toTop();
    }

    let now = { pages: 1, page: 1, rows: [] };
    async function show() {
      const kept = host.kept(), ranked = numbers[kept.get("order")];
      labelled = host.labels.keys(kept.has("sample") ? questionOf(kept) : "");
      query.value = written(kept);
      for (const [element, name] of [[find, "find"], [q, "q"], [per, "per"], [order, "order"]]) {
        if (host.top.getRootNode().activeElement !== element || element === per || element === order) element.value = kept.get(name) ?? "";
      }
      size.value = kept.get("sample") ?? "";
      question.value = questionOf(kept);
      named.hidden = !kept.has("sample");
      const { rows: all, found, unknown } = filtered(kept);
      fill(kept, found);
      chips(kept);
      const sought = host.search ? terms(kept.get("q") ?? "") : [];
      let shown = all, pattern;
      if (sought.length) {
        status.textContent = "Searching …";
        let right = null;
        try { right = await host.search(sought); } catch (error) { status.textContent = error.message; return; }
        if (String(host.kept()) !== String(kept)) return;
        shown = all.filter((row) => right.has(row));
        const escaped = sought.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("'", "['’‘]").replaceAll(" ", "\\s+"));
        const any = `(${escaped.join("|")})`;
        pattern = [`(?<![\\p{L}\\p{N}])${any}(?![\\p{L}\\p{N}])`, any].map((form) => new RegExp(form, "iu"));
      }
      if (ranked) shown = [...shown].sort((a, b) => (ranked[b] ?? -1) - (ranked[a] ?? -1) || a - b);
      const many = Math.floor(Number(kept.get("sample")));
      if (many > 0) {
        // A conversation without an answer on record is not drawn.
        const { values, codes } = answers(kept) ?? { values: [], codes: rows.map(() => -1) }, group = kept.get("per");
        const groupOf = (row) => (group === "answer" ? values[codes[row]] : group ? String(value(group, row)) : "");
        shown = drawn(shown.filter((row) => codes[row] >= 0), many, seedOf(kept), keyOf, groupOf);
        host.labels.keepSample({ talks: shown.map((row) => [hrefOf(row), ...keyOf(row)]), list: place(kept), question: questionOf(kept) });
      }
      host.listed(kept, shown, () => shown.map(hrefOf));
      const last = Math.max(1, Math.ceil(shown.length / PAGE)), here = Math.min(Math.max(1, Number(kept.get("page")) || 1), last);
      const part = shown.slice((here - 1) * PAGE, here * PAGE), hits = sought.length ? await host.hits(part, sought) : new Map();
      if (String(host.kept()) !== String(kept)) return;
      now = { pages: last, page: here, rows: shown };
      items.replaceChildren(...part.map((row) => item(row, kept, hits.get(row), pattern)));
      pager.hidden = last === 1;
      at.textContent = `Page ${here} of ${last}`;
      before.disabled = here === 1;
      after.disabled = here === last;
      say(kept, shown, unknown);
      host.drawn?.();
    }

    let wait = 0;
    query.addEventListener("change", () => host.go(new URLSearchParams(parsed(query.value))));
    find.addEventListener("input", () => change("find", find.value.trim(), true));
    size.addEventListener("change", () => change("sample", size.value.trim() || String(DRAWN)));
    more.addEventListener("change", () => { if (more.value) box(more.value); more.value = ""; show(); });
    if (host.search) q.addEventListener("input", () => { clearTimeout(wait); wait = setTimeout(() => change("q", q.value.trim(), true), 250); });
    seek.addEventListener("submit", (event) => {
      event.preventDefault();
      clearTimeout(wait);
      if (host.search) change("q", q.value.trim(), true);
      else { const next = bare(); next.set("q", q.value.trim()); host.toSearch(next); }
    });
    const links = () => [...items.querySelectorAll("a.talk-link")];
    host.addKeys({
      j: ["next conversation in the list", () => step(links(), 1)],
      k: ["previous conversation in the list", () => step(links(), -1)],
      n: ["next page of the list", () => turn(1)],
      p: ["previous page of the list", () => turn(-1)],
    });
    show();
    return { show, end };
  }

  globalThis.deskbench.list = list;
})();
