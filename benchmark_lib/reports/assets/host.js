// The list, the transcripts and two side by side on the pages of the site: addresses, scripts of the folder, and labels that this browser keeps.
(() => {
  "use strict";

  const { one, make, data, plural, talkOf, unpacked, addKeys, packed, parsed, decoded, address, fold, list, labels, reader, pair } = globalThis.deskbench;
  const PLACE = "deskbench-labels", LIST = "deskbench-list", WALKED = 5_000, TALK = /^[a-z0-9-]+\/[a-z0-9-]+$/;
  const COLUMNS = ["run_id", "model", "case_id", "trial", "scorer", "label", "tag", "note", "at", "labeller"];
  const UNSAVED = "This browser stores nothing for this page, so the label was not saved.";
  const keep = (name, text) => { try { localStorage.setItem(name, text); return true; } catch { return false; /* this browser keeps nothing */ } };
  const kept = (name) => { try { return localStorage.getItem(name) ?? ""; } catch { return ""; } };
  const read = () => { try { return JSON.parse(localStorage.getItem(PLACE)) ?? {}; } catch { return {}; } };

  // Yes and no are True and False; a browser may still hold them as scores, 100 and 0, as they were before.
  const asNow = (row) => (["success", "unsafe"].includes(row.scorer) && row.label !== "" && !["True", "False"].includes(row.label) ? { ...row, label: Number(row.label) >= 50 ? "True" : "False" } : row);
  const host = {
    keep, kept, addKeys, frame: document.documentElement, heard: document,
    rows: () => Object.values(read()).map(asNow),
    save: async (row, key) => (keep(PLACE, JSON.stringify({ ...read(), [key(row)]: row })) ? "" : UNSAVED),
    remove: (row, key) => { const { [key(row)]: _, ...rest } = read(); keep(PLACE, JSON.stringify(rest)); },
    here: () => talkOf(location.href),
    anchor: () => location.hash.split("/")[2] ?? "",
    goTalk: (href, anew) => { if (anew) location.reload(); else location.href = href; },
    toTop: () => scrollTo({ top: 0 }),
  };

  // A value as benchmark_lib.reports.explorer.labels writes it: no control characters, and nothing a spreadsheet would run.
  function cell(value) {
    let text = String(value).replaceAll("\r\n", "\n").replace(/[\x00-\x08\x0b-\x1f\x7f]/g, " ");
    if (/^[=+\-@\t\r']/.test(text)) text = `'${text}`;
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }
  const csv = () => [COLUMNS, ...host.rows().map((row) => COLUMNS.map((name) => cell(row[name] ?? "")))].map((line) => `${line.join(",")}\n`).join("");
  function download() {
    const link = make("a", { href: URL.createObjectURL(new Blob([csv()], { type: "text/csv" })), download: "labels.csv" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
  // How many labels there are, with the buttons that export and forget them.
  function panel() {
    const count = host.rows().length;
    one("labels").hidden = count === 0;
    one("labels-count").textContent = plural(count, "label");
    one("labels-export").onclick = download;
    one("labels-forget").onclick = () => { if (confirm(`Forget ${plural(count, "label")} given in this browser?`)) { keep(PLACE, "{}"); location.reload(); } };
  }

  // All messages: the distinct texts, and for each conversation its messages (twice the text's place, plus one if the agent wrote it).
  let messages = null;
  async function load() {
    const [spoken, ...parts] = await Promise.all(packed.map(unpacked)), texts = parts.flat();
    return { spoken, texts, folded: texts.map(fold) };
  }
  async function search(terms) {
    try {
      messages ??= await load();
    } catch {
      throw new Error("The messages could not be read: this browser cannot unpack them, or the folder search is missing.");
    }
    const hits = terms.map((term) => messages.folded.map((text) => text.includes(term))), found = (spoken) => hits.every((hit) => spoken.some((code) => hit[code >> 1]));
    return new Set(messages.spoken.flatMap((spoken, row) => (found(spoken) ? [row] : [])));
  }
  async function hits(rows, terms) {
    const mine = (row) => messages.spoken[row].map((code, i) => ({ number: i + 1, agent: code & 1, text: messages.texts[code >> 1], folded: messages.folded[code >> 1] }));
    return new Map(rows.map((row) => [row, mine(row).filter(({ folded }) => terms.some((term) => folded.includes(term)))]));
  }

  function listPage() {
    const top = one("talk-place");
    if (!top) return;
    const searching = packed.length > 0;
    host.labels = labels(host);
    const made = list({
      ...host, top, hits, search: searching ? search : null,
      kept: () => new URLSearchParams(parsed(decoded(location.hash.slice(1)))),
      go: (kept, quietly) => { if (quietly) { history.replaceState(null, "", address(kept)); made.show(); } else location.hash = address(kept); },
      toSearch: (kept) => { location.href = `search.html${address(kept)}`; },
      // The pages of transcripts step through the list in this order; a sample is a queue of its own.
      listed: (kept, rows, hrefs) => {
        const talks = rows.length <= WALKED && !kept.has("sample") ? hrefs() : [];
        try { sessionStorage.setItem(LIST, JSON.stringify({ root: new URL(".", location.href).href, search: searching, filter: address(kept).slice(1), talks })); } catch { /* this browser keeps nothing */ }
        panel();
        if (one("talk-other")) one("talk-other").href = `transcripts.html${address(kept)}`;
      },
    }, data("talk-data"));
    addEventListener("hashchange", made.show);
    addEventListener("pageshow", ({ persisted }) => { if (persisted) { host.labels.refresh(); made.show(); } });
  }

  function walked() {
    let found = null;
    try { found = JSON.parse(sessionStorage.getItem(LIST)); } catch { /* this browser keeps nothing */ }
    return found?.root === new URL(".", location.href).href ? { talks: found.talks.map(talkOf), list: `${found.search ? "search" : "transcripts"}.html#${found.filter}` } : { talks: [] };
  }

  // The transcripts of a script. Only this function makes the address of a script, and the page's policy admits no other.
  const SCRIPT = /^talks\/[a-z0-9-]+-\d+\.js$/, loaded = new Map();
  let policy = null;
  function script(name) {
    policy ??= globalThis.trustedTypes?.createPolicy("talks", { createScriptURL: (address) => { if (SCRIPT.test(address)) return address; throw new TypeError(address); } }) ?? { createScriptURL: (address) => address };
    return loaded.get(name) ?? loaded.set(name, new Promise((done, failed) => {
      const element = make("script");
      element.addEventListener("load", () => done(unpacked(packed.pop())));
      element.addEventListener("error", failed);
      element.src = policy.createScriptURL(name);
      document.head.append(element);
    })).get(name);
  }
  // The markup of a transcript; each script contains the names from its first one up to the first of the next script.
  async function markup(talk) {
    const [entry, name] = talk.split("/"), starts = data("talk-starts");
    const at = Object.hasOwn(starts, entry) ? starts[entry].findLastIndex((first) => first <= name) : -1;
    if (at < 0) return null;
    const talks = await script(`talks/${entry}-${at}.js`);
    return Object.hasOwn(talks, name) ? String(talks[name]) : null;
  }

  function talkPage() {
    if (!one("talk")) return;
    host.labels = labels(host);
    const { show } = reader({
      ...host, place: one("talk"), note: one("talk-note"), markup, walked,
      aimAt: (id) => history.replaceState(null, "", `#${host.here()}/${id}`),
      titled: (title) => { document.title = title; },
    });
    addEventListener("hashchange", () => show());
    addEventListener("pageshow", ({ persisted }) => { if (persisted) host.labels.refresh(); });
    show();
  }

  function besidePage() {
    if (!one("beside")) return;
    const kept = () => new URLSearchParams(location.hash.slice(1));
    const show = async () => {
      const talks = ["a", "b"].map((side) => kept().get(side) ?? ""), at = location.hash;
      const markups = await Promise.all(talks.map((talk) => (TALK.test(talk) ? markup(talk).catch(() => null) : null)));
      if (location.hash !== at) return;
      one("beside-none").hidden = !markups.includes(null);
      one("beside").hidden = one("beside-note").hidden = markups.includes(null);
      if (!markups.includes(null)) pair(one("beside"), one("beside-note"), talks, markups);
    };
    one("beside-swap").addEventListener("click", () => { location.hash = `#a=${kept().get("b") ?? ""}&b=${kept().get("a") ?? ""}`; });
    addEventListener("hashchange", show);
    show();
  }

  document.addEventListener("DOMContentLoaded", () => { listPage(); talkPage(); besidePage(); });
})();
