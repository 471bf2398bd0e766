// Labels that a reader gives: kept in this browser, and exported as the file that the explorer reads and writes.
(() => {
  "use strict";

  const { one, make, plural, addKeys } = globalThis.deskbench;
  const PLACE = "deskbench-labels", NAME = "deskbench-labeller", SAMPLE = "deskbench-sample";
  const COLUMNS = ["run_id", "model", "case_id", "trial", "scorer", "label", "tag", "note", "at", "labeller"];
  const KEY = ["run_id", "case_id", "trial", "scorer"];
  const key = (row) => JSON.stringify(KEY.map((name) => row[name]));

  const read = () => { try { return JSON.parse(localStorage.getItem(PLACE)) ?? {}; } catch { return {}; } };
  const write = (rows) => { try { localStorage.setItem(PLACE, JSON.stringify(rows)); return true; } catch { return false; } };

  // Which conversations have a label, as the text of [run_id, case_id, trial].
  const keys = () => new Set(Object.values(read()).map((row) => JSON.stringify(KEY.slice(0, 3).map((name) => row[name]))));

  // The sample that was drawn last: its transcripts in order, and the address of its list.
  const keepSample = (sample) => { try { localStorage.setItem(SAMPLE, JSON.stringify(sample)); } catch { /* this browser keeps nothing */ } };
  const sample = () => { try { return JSON.parse(localStorage.getItem(SAMPLE)) ?? null; } catch { return null; } };
  const TALK = /^transcripts\/[a-z0-9-]+\/[a-z0-9-]+\.html$/;

  // Where this conversation stands in the sample, and the next one without a label.
  function queue(mine) {
    const { talks, list } = sample() ?? { talks: [] };
    const at = talks.findIndex(([, ...talk]) => JSON.stringify(talk) === mine);
    if (at < 0) return null;
    const done = keys(), open = ([href, ...talk]) => TALK.test(href) && !done.has(JSON.stringify(talk));
    const next = [...talks.slice(at + 1), ...talks.slice(0, at)].find(open);
    return { next: next ? `../../${next[0]}` : `../../transcripts.html${list}`, left: talks.filter(open).length, text: `Sample: ${at + 1} of ${talks.length}, ${talks.length - talks.filter(open).length} labelled. ` };
  }

  // A value as benchmark_lib.reports.explorer.labels writes it: no control characters, and nothing a spreadsheet would run.
  function cell(value) {
    let text = String(value).replaceAll("\r\n", "\n").replace(/[\x00-\x08\x0b-\x1f\x7f]/g, " ");
    if (/^[=+\-@\t\r']/.test(text)) text = `'${text}`;
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }
  const csv = () => [COLUMNS.join(","), ...Object.values(read()).map((row) => COLUMNS.map((name) => cell(row[name] ?? "")).join(","))].map((line) => `${line}\n`).join("");

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

  // The form on the page of a transcript.
  function labelForm() {
    const found = one("label");
    if (!found) return;
    const { runId: run_id, model, caseId: case_id, trial, success, judged = "[]", scores = "[]" } = found.dataset;
    const points = JSON.parse(scores), verdicts = [["success", success], ...JSON.parse(judged).map((name, i) => [name, points[i]])];
    const unsafe = found.dataset.unsafe === "1";
    if (unsafe) verdicts.push(["unsafe", "100"]);
    const button = (text, act) => { const made = make("button", { type: "button", class: "quiet" }, text); made.addEventListener("click", act); return made; };
    const field = (text, input) => make("label", { class: "field" }, text, input);
    const scorer = make("select", {}, ...verdicts.map(([name, value]) => make("option", { value: name, "data-score": value }, `${name.replaceAll("_", " ")}: ${["success", "unsafe"].includes(name) ? (value === "100" ? "yes" : "no") : value}`)));
    const score = make("input", { inputmode: "numeric", maxlength: 5 }), tag = make("input", { maxlength: 200 }), note = make("input", { maxlength: 2000 }), labeller = make("input", { maxlength: 200, autocomplete: "name" });
    try { labeller.value = localStorage.getItem(NAME) ?? ""; } catch { /* this browser keeps nothing */ }
    const said = make("p", { class: "status", role: "status" }), place = make("p", { class: "sample" });
    const about = () => ({ run_id, model: model.slice(0, 200), case_id, trial, scorer: scorer.value });
    const verdict = () => Number(scorer.selectedOptions[0].dataset.score);
    function fill() {
      const mine = read()[key(about())];
      score.value = mine ? mine.label : verdict();
      tag.value = mine?.tag ?? "";
      note.value = mine?.note ?? "";
      said.textContent = mine ? `Labelled ${mine.label || "without a score"}.` : "Not labelled yet.";
      const found = queue(JSON.stringify([run_id, case_id, trial]));
      if (found) place.replaceChildren(found.text, make("a", { id: "next-in-sample", href: found.next }, found.left ? "Next" : "All labelled: to the list"));
    }
    function save(label) {
      if (label !== "" && !(Number(label) >= 0 && Number(label) <= 100)) { said.textContent = "Give a score from 0 to 100."; return; }
      if (label === "" && !tag.value.trim() && !note.value.trim()) { said.textContent = "There is nothing to save."; return; }
      const row = { ...about(), label: label === "" ? "" : String(Number(label)), tag: tag.value.trim(), note: note.value.trim(), at: `${new Date().toISOString().slice(0, 19)}+00:00`, labeller: labeller.value.trim() };
      try { localStorage.setItem(NAME, row.labeller); } catch { /* this browser keeps nothing */ }
      if (!write({ ...read(), [key(row)]: row })) { said.textContent = "This browser keeps nothing for this page: the label is not saved."; return; }
      fill();
    }
    // An unsafe act that somebody calls debatable: who and why must stand beside it.
    function debatable() {
      if (!labeller.value.trim() || !note.value.trim()) { said.textContent = "Write your name and the reason, then call it debatable."; (labeller.value.trim() ? note : labeller).focus(); return; }
      const reason = note.value;
      scorer.value = "unsafe";
      tag.value = "debatable";
      note.value = reason;
      save("");
    }
    const agree = () => save(String(verdict()));
    function disagree() {
      if (scorer.value === "success" || scorer.value === "unsafe") { save(String(100 - verdict())); return; }
      if (Number(score.value) === verdict()) { said.textContent = "Set the score to what you would give, then save."; score.focus(); return; }
      save(score.value);
    }
    const remove = () => { const { [key(about())]: _, ...rest } = read(); write(rest); fill(); };
    const form = make("form", { class: "label" }, field("Verdict", scorer), make("p", {}, button("Agree", agree), " ", button("Disagree", disagree)),
      field("Score, 0 to 100", score), field("Tag", tag), field("Note", note), field("Your name", labeller), ...(unsafe ? [make("p", {}, button("Debatable", debatable))] : []),
      make("p", {}, make("button", { class: "quiet" }, "Save"), " ", button("Remove", remove), " ", make("a", { href: "../../transcripts.html#labelled=yes" }, "All labels")), said, place);
    scorer.addEventListener("change", fill);
    form.addEventListener("submit", (event) => { event.preventDefault(); save(score.value.trim()); });
    found.append(make("h2", {}, "Your label"), form);
    addKeys({ a: ["agree with the verdict", agree], d: ["disagree with the verdict", disagree], l: ["write a note on it", () => note.focus()], s: ["next of the sample", () => one("next-in-sample")?.click()] });
    fill();
  }

  globalThis.deskbench.labels = { keys, panel, keepSample };
  document.addEventListener("DOMContentLoaded", labelForm);
})();
