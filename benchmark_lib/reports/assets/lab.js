// The list of conversations in JupyterLab: the site's own list, transcripts and labels in a shadow root, with data and answers from Python.

const { make, plural, unpacked, parsed, decoded, talkOf, written, list, labels, reader, pair, built } = globalThis.deskbench;
const PAIR = /beside\.html#a=([a-z0-9-]+\/[a-z0-9-]+)&b=([a-z0-9-]+\/[a-z0-9-]+)$/, AIM = /^#([a-z0-9-]+\/[a-z0-9-]+(?:\/[a-z0-9-]*)?)$/;

async function render({ model, el }) {
  const outer = el.appendChild(make("div", { class: "db-list", tabindex: "-1", "data-lm-suppress-shortcuts": "true" })); // JupyterLab's own keys: y would turn the cell into code
  const root = outer.attachShadow({ mode: "open" }), ending = new AbortController(), { signal } = ending;
  const top = make("div", { class: "list-side" }), place = make("div", { id: "talk" }), note = make("p", { class: "note", hidden: "" }), side = make("div", { class: "talk-side", hidden: "" });
  const frame = make("main", { class: "wrap lab" }, make("div", { class: "panes" }, top, side));
  root.append(make("style", {}, STYLE), frame);
  const themed = () => { const light = document.body.dataset.jpThemeLight; if (light) outer.dataset.theme = light === "false" ? "dark" : "light"; };
  const watching = new MutationObserver(themed);
  watching.observe(document.body, { attributes: true });
  themed();

  // Questions to Python, each answered once.
  const waiting = new Map();
  let asked = 0;
  const ask = (what, about = {}) => new Promise((done, failed) => { asked += 1; waiting.set(asked, [done, failed]); model.send({ ...about, what, number: asked }); });
  const answered = ({ number, answer, problem }) => { const [done, failed] = waiting.get(number) ?? []; waiting.delete(number); if (problem) failed?.(new Error(problem)); else done?.(answer); };
  model.on("msg:custom", answered);

  // What is open, and which keys are active: those of the list, or of the conversation that is open.
  const memory = new Map(), keys = { list: {}, talk: {} };
  let open = "", shownRows = [];
  const layer = (name) => (more) => Object.assign(keys[name], more);
  const kept = (name) => (name === "deskbench-labeller" ? model.get("labeller") : memory.get(name) ?? "");
  function keep(name, text) {
    if (name !== "deskbench-labeller") { memory.set(name, text); return; }
    model.set("labeller", text);
    model.save_changes();
  }
  const rows = () => model.get("labels");
  const host = {
    keep, kept, frame, rows, heard: outer, block: "nearest", remove: null,
    async save(row) { try { await ask("label", { row }); return ""; } catch (error) { return error.message; } },
    here: () => open.split("/").slice(0, 2).join("/"), anchor: () => open.split("/")[2] ?? "",
    goTalk: (href, anew) => { if (!anew) follow(href); else { made.end(); shown(true); } },
    toTop: () => { side.scrollTop = 0; },
  };
  const leads = (href) => Boolean(talkOf(href));
  host.labels = labels({ ...host, addKeys: layer("talk") });
  const pages = reader({
    ...host, place, note, leads, addKeys: layer("talk"), titled: () => {},
    markup: (talk) => ask("talk", { talk }),
    walked: () => ({ talks: shownRows.map(talkOf), list: "transcripts.html" }),
    aimAt: (id) => { open = `${host.here()}/${id}`; },
  });
  async function shown(anew = false) {
    side.hidden = !open;
    frame.toggleAttribute("data-reading", Boolean(open));
    side.replaceChildren(closing(), note, place);
    if (open) await pages.show(anew);
    outer.focus({ preventScroll: true });
  }
  const button = (text, act) => { const made = make("button", { type: "button", class: "quiet" }, text); made.addEventListener("click", act); return made; };
  const closing = () => make("p", {}, button("× Close", () => { open = ""; frame.removeAttribute("data-blind"); shown(); made.show(); }));

  // Where a link of the list or of a transcript leads in the widget; no page of a site opens.
  async function follow(href) {
    const [, a, b] = PAIR.exec(href) ?? [], [, aimed] = AIM.exec(href.replace(/^(talk\.html)?/, "")) ?? [];
    if (a) await two([a, b]);
    else if (aimed) { open = aimed; await shown(place.dataset.at === undefined); }
    else if (href.startsWith("transcripts.html")) { open = ""; await shown(); if (href.includes("#")) go(new URLSearchParams(parsed(decoded(href.split("#")[1])))); else made.show(); }
    else if (href.startsWith("#")) go(new URLSearchParams(parsed(decoded(href.slice(1)))));
  }
  async function two(talks) {
    const both = make("div"), said = make("p", { class: "note" }), markups = await Promise.all(talks.map((talk) => ask("talk", { talk })));
    side.replaceChildren(make("p", {}, button("× Close", () => shown())), said, both);
    pair(both, said, talks, markups, leads);
  }
  root.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!link || link.hasAttribute("download")) return;
    event.preventDefault();
    follow(link.getAttribute("href"));
  }, { signal });
  outer.addEventListener("keydown", (event) => {
    const typed = event.composedPath()[0].matches("input, select, textarea");
    event.stopPropagation();
    if (event.key === "Escape" && typed) outer.focus({ preventScroll: true });
    const act = typed || event.ctrlKey || event.metaKey || event.altKey || event.repeat ? null : keys[open ? "talk" : "list"][event.key]?.[1];
    if (act) { event.preventDefault(); act(); }
  }, { signal });

  // The list's query is a trait of the widget, so that Python can read and set it.
  function go(next) { model.set("query", written(next)); model.save_changes(); }
  const data = await unpacked(model.get("data"));
  const made = list({
    ...host, top, addKeys: layer("list"),
    kept: () => new URLSearchParams(parsed(model.get("query"))),
    go,
    search: async (terms) => new Set(await ask("search", { terms })),
    hits: async (found, terms) => new Map(await ask("hits", { rows: found, terms })),
    listed(kept, found, hrefs) { shownRows = hrefs(); model.set("listed", { query: model.get("query"), rows: found }); model.save_changes(); },
  }, data);

  // The labels of the file: how many there are, how far labellers agree, and the import of others.
  const count = make("span"), agreement = make("div"), said = make("p", { class: "status", role: "status" }), file = make("input", { type: "file", accept: ".csv", "aria-label": "Import labels" });
  const counted = () => { count.textContent = `${plural(rows().length, "label")} on file: ${model.get("file")} `; };
  async function agree() { try { agreement.replaceChildren(built(await ask("agreement"), "")); said.textContent = ""; } catch (error) { said.textContent = error.message; } }
  file.addEventListener("change", async () => {
    try { said.textContent = await ask("import", { text: await file.files[0].text() }); } catch (error) { said.textContent = error.message; }
    file.value = "";
  });
  frame.append(make("section", { class: "labels" }, make("h2", {}, "Labels"), make("p", { class: "tools" }, count, button("Agreement", agree), make("label", { class: "field" }, "Import labels.csv ", file)), said, agreement));
  const relabelled = () => { counted(); made.show(); };
  counted();
  model.on("change:labels", relabelled);
  const requeried = () => { // another list closes the transcript, and leaves the focus where somebody types
    if (open) { open = ""; side.hidden = true; frame.removeAttribute("data-reading"); side.replaceChildren(); }
    made.show();
  };
  model.on("change:query", requeried);
  return () => { ending.abort(); watching.disconnect(); model.off("change:labels", relabelled); model.off("change:query", requeried); model.off("msg:custom", answered); };
}

export default { render };
