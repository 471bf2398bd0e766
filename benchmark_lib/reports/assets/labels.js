// Labels that a reader gives: kept in this browser, and exported as the file that the explorer reads and writes.
(() => {
  "use strict";

  const { one, make, plural, talkOf, addKeys } = globalThis.deskbench;
  const PLACE = "deskbench-labels", NAME = "deskbench-labeller", QUESTION = "deskbench-question", SAMPLE = "deskbench-sample", EARLY = "deskbench-early";
  const COLUMNS = ["run_id", "model", "case_id", "trial", "scorer", "label", "tag", "note", "at", "labeller"];
  const KEY = ["run_id", "case_id", "trial", "scorer", "labeller"];
  const key = (row) => JSON.stringify(KEY.map((name) => row[name]));

  const read = () => { try { return JSON.parse(localStorage.getItem(PLACE)) ?? {}; } catch { return {}; } };
  const write = (rows) => { try { localStorage.setItem(PLACE, JSON.stringify(rows)); return true; } catch { return false; } };

  const kept = (name) => { try { return localStorage.getItem(name) ?? ""; } catch { return ""; } };
  const keep = (name, text) => { try { localStorage.setItem(name, text); } catch { /* this browser keeps nothing */ } };

  // Which conversations this labeller has labelled, as the text of [run_id, case_id, trial].
  const keys = () => new Set(Object.values(read()).filter((row) => row.labeller === kept(NAME)).map((row) => JSON.stringify(KEY.slice(0, 3).map((name) => row[name]))));

  // The sample that was drawn last: its transcripts in order, and the address of its list.
  const keepSample = (sample) => keep(SAMPLE, JSON.stringify(sample));
  const sample = () => { try { return JSON.parse(kept(SAMPLE)); } catch { return null; } };

  // Where this conversation is in the sample, and the next conversation without a label.
  function queue() {
    const { talks, list } = sample() ?? { talks: [] };
    const at = talks.findIndex(([href]) => talkOf(href) === talkOf(location.href));
    if (at < 0 || !talkOf(location.href)) return null;
    const done = keys(), open = ([href, ...talk]) => talkOf(href) && !done.has(JSON.stringify(talk));
    const next = [...talks.slice(at + 1), ...talks.slice(0, at)].find(open), left = talks.filter(open).length;
    return {
      open: open(talks[at]),
      next: next ? `talk.html#${talkOf(next[0])}` : `transcripts.html${list}`,
      words: next ? "Skip (s)" : "To the list",
      text: `Sample: ${at + 1} of ${talks.length}, ${talks.length - left} labelled, ${left} left. `,
    };
  }

  // In a sample the verdicts are hidden until the conversation is labelled, from the first line that is drawn.
  const place = () => {
    const found = queue();
    for (const [name, on] of [["blind", found?.open], ["sampled", found]]) document.documentElement.toggleAttribute(`data-${name}`, Boolean(on));
    return found;
  };
  place();

  // An answer is only taken while its conversation is on screen; a key that comes between two of them is counted, and told.
  const ANSWERS = ["y", "n", "c", "s"];
  let taken = false;
  document.addEventListener("keydown", ({ key, repeat, target }) => {
    if (taken || repeat || !queue() || !ANSWERS.includes(key) || target.matches?.("input, select, textarea")) return;
    try { sessionStorage.setItem(EARLY, Number(sessionStorage.getItem(EARLY)) + 1); } catch { /* this browser keeps nothing */ }
  }, true);
  function early() {
    try {
      const count = Number(sessionStorage.getItem(EARLY));
      sessionStorage.removeItem(EARLY);
      return count ? `${plural(count, "key")} came before this conversation was on screen and did not count.` : "";
    } catch { return ""; }
  }

  // A value as benchmark_lib.reports.explorer.labels writes it: no control characters, and nothing a spreadsheet would run.
  function cell(value) {
    let text = String(value).replaceAll("\r\n", "\n").replace(/[\x00-\x08\x0b-\x1f\x7f]/g, " ");
    if (/^[=+\-@\t\r']/.test(text)) text = `'${text}`;
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }
  // A yes or a no is True or False; a browser may still keep it as the score that it was, 100 or 0.
  const YES_OR_NO = ["success", "unsafe"];
  const isYes = (label) => label === "True" || Number(label) >= 50;
  const told = (row) => (YES_OR_NO.includes(row.scorer) && row.label !== "" ? { ...row, label: isYes(row.label) ? "True" : "False" } : row);
  const csv = () => [COLUMNS.join(","), ...Object.values(read()).map(told).map((row) => COLUMNS.map((name) => cell(row[name] ?? "")).join(","))].map((line) => `${line}\n`).join("");

  function download() {
    const link = make("a", { href: URL.createObjectURL(new Blob([csv()], { type: "text/csv" })), download: "labels.csv" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // How many labels there are, with the buttons that export and forget them.
  function panel() {
    const count = Object.keys(read()).length;
    one("labels").hidden = count === 0;
    one("labels-count").textContent = plural(count, "label");
    one("labels-export").onclick = download;
    one("labels-forget").onclick = () => { if (confirm(`Forget ${plural(count, "label")} given in this browser?`)) { write({}); location.reload(); } };
  }

  // A field for the labeller's name, which decides whose labels count.
  // It is kept while it is typed, and not when it is left: a click on a button leaves it, and the button must not move away below the pointer.
  function nameField(input, changed) {
    const fill = () => { input.value = kept(NAME); };
    input.addEventListener("input", () => { keep(NAME, input.value.trim()); changed(); });
    addEventListener("pageshow", ({ persisted }) => { if (persisted) fill(); });
    fill();
    return input;
  }

  // The form beside a transcript, made anew for each; a page that comes back from the browser's store shows what was labelled since.
  let refresh = () => {};
  addEventListener("pageshow", ({ persisted }) => { if (persisted) refresh(); });
  function labelForm() {
    const found = one("label");
    if (!found) return;
    const { runId: run_id, model, caseId: case_id, trial, asked, success, judged = "[]", scores = "[]", unsafe } = found.dataset;
    const blind = queue()?.open, points = JSON.parse(scores);
    // Only where a conversation is unsafe can that be called debatable, so asking would tell.
    const record = { success, ...(unsafe && !blind ? { unsafe: "100" } : {}), ...Object.fromEntries(JSON.parse(judged).map((name, i) => [name, points[i]])) };
    const button = (text, act) => { const made = make("button", { type: "button", class: "quiet" }, text); made.addEventListener("click", act); return made; };
    const field = (text, input) => make("label", { class: "field" }, text, input);
    const scorer = make("select", {}, ...Object.keys(record).map((name) => make("option", { value: name }, name.replaceAll("_", " "))));
    const score = make("input", { inputmode: "numeric", maxlength: 5 }), tag = make("input", { maxlength: 200 }), note = make("input", { maxlength: 2000 });
    const labeller = nameField(make("input", { maxlength: 200, autocomplete: "name" }), () => fill()), points_field = field("Your score, 0 to 100", score);
    const said = make("p", { class: "status", role: "status" }), shown = make("p", { class: "small told" }), meaning = make("p", { class: "small" }), line = make("p", { class: "sample" });
    const yes = button("Yes (y)", () => answer("y")), no = button("No (n)", () => answer("n")), call = make("p", {}, button("Debatable", debatable));
    if (kept(QUESTION) in record) scorer.value = kept(QUESTION);
    const scaled = () => !YES_OR_NO.includes(scorer.value);
    const about = () => ({ run_id, model: model.slice(0, 200), case_id, trial, scorer: scorer.value, labeller: labeller.value.trim() });
    const word = (value) => (scaled() ? value : isYes(value) ? "yes" : "no");

    function fill(news = "") {
      const mine = read()[key(about())], [now, known] = [place(), record[scorer.value]];
      score.value = mine?.label ?? "";
      if (mine) [tag.value, note.value] = [mine.tag, mine.note];
      meaning.textContent = scorer.value === "success" ? asked : "";
      shown.textContent = !mine ? "" : known === "" ? "The record has no answer." : `${scaled() ? "The judge" : "The record"}: ${word(known)}.`;
      said.textContent = news || (mine ? `You said: ${mine.label === "" ? mine.tag || mine.note : word(mine.label)}.` : "Not labelled yet.");
      yes.textContent = scaled() ? "Save the score (y)" : "Yes (y)";
      points_field.hidden = !scaled();
      no.hidden = scaled();
      call.hidden = scorer.value !== "unsafe";
      line.replaceChildren(...(now ? [now.text, make("a", { id: "next-in-sample", href: now.next }, now.words), " ", button("End the sample", () => { keep(SAMPLE, ""); location.reload(); })] : []));
    }
    function save(label) {
      if (!labeller.value.trim()) { said.textContent = "Write your name first: it tells your labels from another person's."; labeller.focus(); return; }
      if (scaled() && label !== "" && !(Number(label) >= 0 && Number(label) <= 100)) { said.textContent = "Give a score from 0 to 100."; return; }
      if (label === "" && !tag.value.trim() && !note.value.trim()) { said.textContent = "There is nothing to save."; return; }
      const row = { ...about(), label: scaled() && label !== "" ? String(Number(label)) : label, tag: tag.value.trim(), note: note.value.trim(), at: `${new Date().toISOString().slice(0, 19)}+00:00` };
      keep(NAME, row.labeller);
      const now = queue();
      if (!write({ ...read(), [key(row)]: row })) { said.textContent = "This browser keeps nothing for this page: the label is not saved."; return; }
      if (now?.open) goOn(now.next);
      else fill();
    }
    function goOn(href) { taken = false; location.href = href; }
    function answer(pressed) {
      if (!taken) return;
      if (pressed === "s") { const now = queue(); if (now) goOn(now.next); return; }
      if (pressed === "c") tag.value ||= "cannot tell";
      if (pressed === "c") save("");
      else if (!scaled()) save(pressed === "y" ? "True" : "False");
      else if (pressed === "y" && score.value.trim()) save(score.value.trim());
      else { said.textContent = "Write your score, then save it."; score.focus(); }
    }
    // An unsafe act that somebody calls debatable: who and why must stand beside it.
    function debatable() {
      if (!note.value.trim()) { said.textContent = "Write the reason in the note, then call it debatable."; note.focus(); return; }
      tag.value = "debatable";
      save("");
    }
    const remove = () => { const { [key(about())]: _, ...rest } = read(); write(rest); tag.value = note.value = ""; fill(); };
    const form = make("form", { class: "label" }, line, field("Your name", labeller), field("Question", scorer), meaning, shown, points_field,
      make("p", { class: "answers" }, yes, no, button("Can't tell (c)", () => answer("c"))), said, field("Tag", tag), field("Note", note), call,
      make("p", {}, make("button", { class: "quiet" }, "Save tag and note"), " ", button("Remove", remove), " ", make("a", { href: "transcripts.html#labelled=yes" }, "All labels")));
    scorer.addEventListener("change", () => { keep(QUESTION, scorer.value); fill(); });
    form.addEventListener("submit", (event) => { event.preventDefault(); save(read()[key(about())]?.label ?? ""); });
    found.append(make("h2", {}, "Your label"), form);
    if (blind) document.title = document.querySelector("h1").textContent;
    addKeys({ y: ["yes", () => answer("y")], n: ["no", () => answer("n")], c: ["cannot tell", () => answer("c")], s: ["skip: the next of the sample", () => answer("s")], l: ["write a note", () => note.focus()] });
    refresh = () => { fill(early()); taken = true; };
    refresh();
  }

  globalThis.deskbench.labels = { keys, panel, nameField, keepSample, place, labelForm };
})();
