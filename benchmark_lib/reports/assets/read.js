// A transcript, built from its markup: keys from message to message, along the reader's list and from failure to failure, and two transcripts side by side.
(() => {
  "use strict";

  const { make, talkOf, step } = globalThis.deskbench;

  // What a transcript may consist of. Anything else in a script is left out; a link leads only to a page of the site.
  const TAGS = new Set("a aside b bdi code dd del details div dl dt h1 h2 h3 header ins li mark nav p pre q section small span summary table tbody td th thead tr ul wbr".split(" "));
  const ATTRIBUTE = /^(?:aria-label|class|dir|id|open|rel|role|scope|tabindex|title|data-[a-z-]+)$/, LINK = /^(?:(?:[a-z]+\/)?[a-z0-9-]+\.html)?(?:#[a-z0-9/-]*)?$/;
  const ENTITY = { amp: "&", lt: "<", gt: ">", "#34": '"', "#39": "'" };
  const plain = (text) => text.replace(/\r\n?/g, "\n").replace(/&(amp|lt|gt|#34|#39);/g, (_, name) => ENTITY[name]);

  // The elements that a transcript's markup describes; `talk` is put before its own anchors. The page's policy forbids passing the markup to the browser.
  function built(markup, talk, leads = (address) => LINK.test(address), page = "") {
    const top = document.createDocumentFragment(), open = [top];
    for (const [, text, end, name, attributes] of markup.matchAll(/([^<]+)|<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"]*")?)*)\s*>/g)) {
      const within = open.at(-1);
      if (text) within.append(plain(text));
      else if (end && within.localName === name) open.pop();
      else if (!end && TAGS.has(name)) {
        const element = make(name);
        for (const [, key, value = ""] of attributes.matchAll(/([a-z-]+)(?:="([^"]*)")?/g)) {
          if (ATTRIBUTE.test(key)) element.setAttribute(key, plain(value));
          else if (key === "href" && (value.startsWith("#") ? LINK.test(value) : leads(value))) element.setAttribute(key, value.startsWith("#") ? `${page}#${talk}/${value.slice(1)}` : value);
        }
        within.append(element);
        if (name !== "wbr") open.push(element);
      }
    }
    return top;
  }

  const all = (selector, within) => [...within.querySelectorAll(selector)];

  // The page of one transcript, as a host gives it: its place, its markup, the list it belongs to, and its address.
  function reader(host) {
    const { place, note, labels } = host, idOf = (name) => all("[id]", place).find((element) => element.id === name);

    // Next to each other conversation on the case, a link that shows both.
    function links(here) {
      for (const link of all(".others a, .trials a", place)) {
        const there = talkOf(link.getAttribute("href") ?? "");
        if (there) link.after(" ", make("a", { class: "both-link", href: `beside.html#a=${here}&b=${there}`, "aria-label": `${link.textContent} side by side with this` }, "side by side"));
      }
    }

    // The neighbours in the list that the reader came from, and the way back to it.
    function walk(here) {
      const { talks, list } = host.walked(), at = talks.indexOf(here);
      if (at < 0) return;
      const link = (id, words, talk) => (talk ? [make("a", { id, href: `talk.html#${talk}` }, words)] : []);
      place.querySelector(".siblings")?.append(make("span", { class: "whole told" }, "· ", make("a", { id: "list", href: list }, "Your list"), ` (${at + 1} of ${talks.length}): `,
        ...link("previous-listed", "previous", talks[at - 1]), " ", ...link("next-listed", "next", talks[at + 1])));
    }

    // The message or call that the address names.
    function aim() {
      for (const element of all(".aimed", place)) element.classList.remove("aimed");
      const element = idOf(host.anchor());
      if (!element) return false;
      if (element.matches("details")) element.open = true;
      element.classList.add("aimed");
      element.scrollIntoView({ block: host.block ?? "start" });
      return true;
    }

    const go = (by) => { const reached = step(all(".msg", place), by); if (reached) { host.aimAt(reached.id); aim(); } };
    const follow = (id) => { const link = idOf(id); if (link?.checkVisibility()) link.click(); };
    host.addKeys({
      j: ["next message", () => go(1)],
      k: ["previous message", () => go(-1)],
      ".": ["next conversation in your list", () => follow("next-listed")],
      ",": ["previous conversation in your list", () => follow("previous-listed")],
      f: ["next failure of this model", () => follow("next-failure")],
      F: ["previous failure of this model", () => follow("previous-failure")],
    });

    async function show(again = false) {
      const here = host.here();
      if (!again && here && place.dataset.at === here) { if (!aim()) host.toTop(); return; }
      let markup = null, why = "There is no conversation at this address.";
      try { markup = await host.markup(here); } catch { why = "The file of this conversation is missing or damaged: copy the whole folder of the site again."; }
      if (here !== host.here()) return; // the reader has moved on
      const moved = place.dataset.at !== undefined;
      labels.place();
      place.replaceChildren(markup === null ? "" : built(markup, here, host.leads));
      place.dataset.at = here;
      note.hidden = markup !== null;
      note.replaceChildren(why, " Choose one from the ", make("a", { href: "transcripts.html" }, "list of transcripts"), ".");
      host.titled(place.firstElementChild?.dataset.title ?? "Transcript · Deskbench");
      if (markup === null) return;
      links(here);
      walk(here);
      const form = idOf("label");
      if (form && labels.labelForm(form)) host.titled(place.querySelector("h1").textContent);
      if (!aim() && moved) host.toTop();
    }
    return { show };
  }

  // What was done in a transcript, in order, and how it ended; words are not compared.
  function events(half) {
    const done = all("[data-same]", half).map((element) => ({ element, turn: element.closest(".turn").dataset.turn, same: element.dataset.same, reads: "reads" in element.dataset }));
    return [...done, { element: half.querySelector(".page p.small"), turn: "", same: half.dataset.ended, reads: false }];
  }
  const first = (sides) => { const [a, b] = sides, at = a.findIndex((event, i) => !b[i] || event.turn !== b[i].turn || event.same !== b[i].same); return at < 0 ? null : [a[at], b[Math.min(at, b.length - 1)]]; };

  // Two transcripts side by side, turn by turn, on one page that scrolls as a whole; the first difference in what was done is marked.
  function pair(place, note, talks, markups, leads) {
    const halves = markups.map((markup, i) => built(markup, talks[i], leads, "talk.html").firstElementChild), sides = halves.map(events);
    const found = first(sides), counts = first(sides.map((side) => side.filter((event) => !event.reads)));
    const marked = [[found, "first difference"], [counts?.[0] === found?.[0] ? null : counts, "first difference that counts"]].filter(([two]) => two);
    for (const [two, words] of marked) for (const { element } of two) { element.classList.add("differs"); (element.querySelector("summary") ?? element).prepend(make("span", { class: "differs-note" }, words)); }
    note.replaceChildren(marked.length ? "" : "The same acts, calls and end on both sides.");
    note.hidden = marked.length > 0;
    const row = (cells, kind = "") => make("div", { class: `two-sides ${kind}` }, ...cells.map((cell) => make("div", {}, ...[cell].flat())));
    const turns = halves.map((half) => new Map(all(".turn", half).map((turn) => [Number(turn.dataset.turn), turn])));
    const numbers = [...new Set(turns.flatMap((side) => [...side.keys()]))].sort((a, b) => a - b), ended = () => make("p", { class: "none" }, "The conversation had ended.");
    for (const half of halves) for (const part of all("#label, .siblings, #same, .others", half)) part.remove();
    place.replaceChildren(row(halves.map((half) => all(".crumb, .page", half)), "heads"), ...numbers.map((number) => row(turns.map((side) => side.get(number) ?? ended()))),
      row(halves.map((half) => all(".expected, .after", half)), "ends"));
    for (const element of all("[id]", place)) element.removeAttribute("id");
    place.querySelector(".differs")?.scrollIntoView({ block: "center" });
  }

  Object.assign(globalThis.deskbench, { built, reader, pair });
})();
