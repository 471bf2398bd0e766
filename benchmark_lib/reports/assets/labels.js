// Labels that a reader gives, one question and one conversation at a time; the host decides where they are kept.
(() => {
  "use strict";

  const { make, plural, talkOf } = globalThis.deskbench;
  const NAME = "deskbench-labeller", QUESTION = "deskbench-question", OWN = "deskbench-own", SAMPLE = "deskbench-sample";
  const KEY = ["run_id", "case_id", "trial", "scorer", "labeller"], ANSWERS = ["y", "n", "c", "s"];
  const key = (row) => JSON.stringify(KEY.map((name) => String(row[name])));
  const isYes = (label) => label === "True" || Number(label) >= 50;

  function labels(host) {
    const { kept, keep } = host;
    const mine = () => host.rows().filter((row) => row.labeller === kept(NAME).trim());
    const scorerOf = (name) => (name === "own:" ? (kept(OWN).trim() ? `own: ${kept(OWN).trim().replace(/\s+/g, " ")}` : "") : name);

    // Which conversations this labeller has labelled, on one question or on any, as the text of [run_id, case_id, trial].
    const asks = (row, question) => !question || row.scorer === scorerOf(question);
    const keys = (question = "") => new Set(mine().filter((row) => asks(row, question)).map((row) => JSON.stringify(KEY.slice(0, 3).map((name) => String(row[name])))));

    // The sample that was drawn last: its transcripts in order, its question, and the address of its list.
    function keepSample(sample) { keep(SAMPLE, sample ? JSON.stringify(sample) : ""); if (sample) keep(QUESTION, sample.question); }
    const sample = () => { try { return JSON.parse(kept(SAMPLE)); } catch { return null; } };

    // Where this conversation is in the sample, and the next conversation without a label.
    function queue() {
      const { talks, list, question } = sample() ?? { talks: [] }, here = host.here();
      const at = talks.findIndex(([href]) => talkOf(href) === here);
      if (at < 0 || !here) return null;
      const done = keys(question), open = ([href, ...talk]) => talkOf(href) && !done.has(JSON.stringify(talk));
      const next = [...talks.slice(at + 1), ...talks.slice(0, at)].find(open), left = talks.filter(open).length;
      return {
        open: open(talks[at]),
        next: next ? `talk.html#${talkOf(next[0])}` : `transcripts.html${list}`,
        words: next ? "Skip (s)" : "To the list",
        text: `Sample: ${at + 1} of ${talks.length}, ${talks.length - left} labelled, ${left} left. `,
      };
    }

    // In a sample the verdicts are hidden until the conversation is labelled, from the first line that is drawn.
    function place() {
      const found = queue();
      for (const [name, on] of [["blind", found?.open], ["sampled", found]]) host.frame.toggleAttribute(`data-${name}`, Boolean(on));
      return found;
    }
    place();

    // An answer is accepted only while its conversation is on screen; keys pressed between two conversations are counted and reported.
    let taken = false, missed = 0;
    host.heard.addEventListener("keydown", (event) => {
      if (taken || event.repeat || !queue() || !ANSWERS.includes(event.key) || event.composedPath()[0].matches?.("input, select, textarea")) return;
      missed += 1;
    }, true);
    function early() {
      const count = missed;
      missed = 0;
      return count ? `${plural(count, "keystroke")} came before this conversation was on screen and did not count.` : "";
    }

    // A field for the labeller's name, which decides whose labels count.
    // It is saved while it is typed, not when the field is left: a click on a button leaves the field, and the button must not move away from the pointer.
    const names = [];
    function nameField(input, changed) {
      input.addEventListener("input", () => { keep(NAME, input.value); for (const other of names) other.value = input.value; changed(); });
      names.push(input);
      input.value = kept(NAME);
      return input;
    }

    // The form next to a transcript, made anew for each.
    let refill = () => {};
    function labelForm(found) {
      const { runId: run_id, model, caseId: case_id, trial, questions } = found.dataset, blind = queue()?.open;
      const offered = new Map(JSON.parse(questions).map((question) => [question.name, question]));
      const button = (text, act) => { const made = make("button", { type: "button", class: "quiet" }, text); made.addEventListener("click", act); return made; };
      const field = (text, input) => make("label", { class: "field" }, text, input);
      const question = make("select", {}, ...[...offered].map(([name, { title }]) => make("option", { value: name }, title ?? name.replaceAll("_", " "))));
      const own = make("input", { maxlength: 1000, placeholder: "a yes-or-no question of your own" }), score = make("input", { inputmode: "numeric", maxlength: 5 });
      const tag = make("input", { maxlength: 200 }), note = make("input", { maxlength: 2000 }), labeller = nameField(make("input", { maxlength: 200, autocomplete: "name" }), () => fill());
      const own_field = field("Ask", own), points_field = field("Your score, 0 to 100", score), said = make("p", { class: "status", role: "status" }), shown = make("p", { class: "small told" });
      const meaning = make("p", { class: "small" }), others = make("p", { class: "small told" }), line = make("p", { class: "sample" });
      const yes = button("Yes (y)", () => answer("y")), no = button("No (n)", () => answer("n"));
      if (kept(QUESTION) && offered.has(kept(QUESTION))) question.value = kept(QUESTION);
      own.value = kept(OWN);
      const asked = () => offered.get(question.value), scaled = () => asked().scaled;
      const about = () => ({ run_id, model: model.slice(0, 200), case_id, trial, scorer: scorerOf(question.value), labeller: labeller.value.trim() });
      const word = (value, scale) => (scale ? value : isYes(value) ? "yes" : "no");
      const onFile = () => host.rows().find((row) => key(row) === key(about()));
      const answerOf = (row) => (row.label === "" ? row.tag || row.note : word(row.label, offered.get(row.scorer)?.scaled));

      function fill(news = "") {
        const [mine, now, { record: known, definition }] = [onFile(), place(), asked()], record = String(known ?? "");
        score.value = mine && scaled() ? mine.label : "";
        if (mine) [tag.value, note.value] = [mine.tag, mine.note];
        meaning.textContent = definition ?? "";
        shown.textContent = !mine || question.value === "own:" ? "" : record === "" ? "The record has no answer." : `${scaled() ? "The judge" : "The record"}: ${word(record, scaled())}.`;
        said.textContent = news || (mine ? `You said: ${answerOf(mine)}.` : "Not labelled yet.");
        const here = (row) => row.run_id === run_id && row.case_id === case_id && String(row.trial) === trial;
        const rest = mine ? host.rows().filter((row) => here(row) && key(row) !== key(mine)) : [];
        others.textContent = rest.map((row) => `${row.scorer.replaceAll("_", " ")}, ${row.labeller || "unnamed"}: ${answerOf(row)}. `).join("");
        yes.textContent = scaled() ? "Save the score (y)" : "Yes (y)";
        points_field.hidden = !scaled();
        own_field.hidden = question.value !== "own:";
        no.hidden = scaled();
        const end = () => { keepSample(null); host.goTalk(`talk.html#${host.here()}`, true); };
        line.replaceChildren(...(now ? [now.text, make("a", { id: "next-in-sample", href: now.next }, now.words), " ", button("End the sample", end)] : []));
      }
      async function save(label) {
        if (!labeller.value.trim()) { said.textContent = "Enter your name first: it distinguishes your labels from other people's."; labeller.focus(); return; }
        if (!about().scorer) { said.textContent = "Enter your question under Ask first."; own.focus(); return; }
        if (scaled() && label !== "" && !(Number(label) >= 0 && Number(label) <= 100)) { said.textContent = "Give a score from 0 to 100."; return; }
        if (label === "" && !tag.value.trim() && !note.value.trim()) { said.textContent = "There is nothing to save."; return; }
        const at = `${new Date().toISOString().slice(0, 19)}+00:00`;
        const row = { ...about(), label: scaled() && label !== "" ? String(Number(label)) : label, tag: tag.value.trim(), note: note.value.trim(), at };
        keep(NAME, row.labeller);
        const now = queue(), was = taken;
        taken = !now?.open; // further keys wait until the next conversation is on screen
        const problem = await host.save(row, key);
        if (problem) { taken = was; said.textContent = problem; return; }
        if (now?.open) goOn(queue().next);
        else fill();
      }
      function goOn(href) { taken = false; host.goTalk(href); }
      function answer(pressed) {
        if (!taken) return;
        if (pressed === "s") { const now = queue(); if (now) goOn(now.next); return; }
        if (pressed === "c") tag.value ||= "cannot tell";
        if (pressed === "c") save("");
        else if (!scaled()) save(pressed === "y" ? "True" : "False");
        else if (pressed === "y" && score.value.trim()) save(score.value.trim());
        else { said.textContent = "Write your score, then save it."; score.focus(); }
      }
      const remove = () => { host.remove(about(), key); tag.value = note.value = ""; fill(); };
      const form = make("form", { class: "label" }, line, field("Your name", labeller), field("Question", question), own_field, meaning, shown, points_field,
        make("p", { class: "answers" }, yes, no, button("Can't tell (c)", () => answer("c"))), said, field("Tag", tag), field("Note", note),
        make("p", {}, make("button", { class: "quiet" }, "Save tag and note"), " ",
          ...(host.remove ? [button("Remove", remove)] : []), " ", make("a", { href: "transcripts.html#labelled=yes" }, "All labels")), others);
      question.addEventListener("change", () => { keep(QUESTION, question.value); fill(); });
      own.addEventListener("input", () => { keep(OWN, own.value); fill(); });
      form.addEventListener("submit", (event) => { event.preventDefault(); save(onFile()?.label ?? ""); });
      found.append(make("h2", {}, "Your label"), form);
      host.addKeys({
        y: ["yes", () => answer("y")], n: ["no", () => answer("n")], c: ["cannot tell", () => answer("c")],
        s: ["skip to the next in the sample", () => answer("s")], l: ["write a note", () => note.focus()],
      });
      refill = () => { fill(early()); taken = true; };
      refill();
      return blind;
    }

    // A page restored from the browser's cache shows what has been labelled since.
    const refresh = () => { for (const input of names) input.value = kept(NAME); refill(); };
    return { keys, nameField, keepSample, place, labelForm, refresh };
  }

  globalThis.deskbench.labels = labels;
})();
