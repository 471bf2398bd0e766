// A transcript, built from what its script holds: keys from message to message, along the reader's list and from failure to failure, and two transcripts side by side.
(() => {
  "use strict";

  const { all, one, make, data, talkOf, unpacked, addKeys, step, packed } = globalThis.deskbench;

  // What a transcript may be made of. Whatever else a script holds is left out; a link leads to a page of the site.
  const TAGS = new Set("a aside b bdi code dd del details div dl dt h1 h2 h3 header ins li mark nav p pre q section small span summary table tbody td th thead tr ul wbr".split(" "));
  const ATTRIBUTE = /^(?:aria-label|class|dir|id|open|rel|role|scope|tabindex|title|data-[a-z-]+)$/, LINK = /^(?:(?:[a-z]+\/)?[a-z0-9-]+\.html)?(?:#[a-z0-9/-]*)?$/;
  const ENTITY = { amp: "&", lt: "<", gt: ">", "#34": '"', "#39": "'" };
  const plain = (text) => text.replace(/\r\n?/g, "\n").replace(/&(amp|lt|gt|#34|#39);/g, (_, name) => ENTITY[name]);

  // The elements that a transcript's markup stands for; `talk` goes before its own anchors. The policy of the page forbids to hand it to the browser.
  function built(markup, talk) {
    const top = document.createDocumentFragment(), open = [top];
    for (const [, text, end, name, attributes] of markup.matchAll(/([^<]+)|<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"]*")?)*)\s*>/g)) {
      const within = open.at(-1);
      if (text) within.append(plain(text));
      else if (end && within.localName === name) open.pop();
      else if (!end && TAGS.has(name)) {
        const element = make(name);
        for (const [, key, value = ""] of attributes.matchAll(/([a-z-]+)(?:="([^"]*)")?/g)) {
          if (ATTRIBUTE.test(key)) element.setAttribute(key, plain(value));
          else if (key === "href" && LINK.test(value)) element.setAttribute(key, value.startsWith("#") ? `#${talk}/${value.slice(1)}` : value);
        }
        within.append(element);
        if (name !== "wbr") open.push(element);
      }
    }
    return top;
  }

  // The transcripts of a script. Only this function makes the address of one, and the page's policy lets no other in.
  const SCRIPT = /^talks\/[a-z0-9-]+-\d+\.js$/, loaded = new Map();
  let policy = null;
  function load(name) {
    policy ??= globalThis.trustedTypes?.createPolicy("talks", { createScriptURL: (address) => { if (SCRIPT.test(address)) return address; throw new TypeError(address); } }) ?? { createScriptURL: (address) => address };
    return loaded.get(name) ?? loaded.set(name, new Promise((done, failed) => {
      const script = make("script");
      script.addEventListener("load", () => done(unpacked(packed.pop())));
      script.addEventListener("error", failed);
      script.src = policy.createScriptURL(name);
      document.head.append(script);
    })).get(name);
  }

  // The markup of a transcript; each script holds those whose names are not before its first.
  async function found(talk) {
    const [entry, name] = talk.split("/"), starts = data("talk-starts");
    const at = Object.hasOwn(starts, entry) ? starts[entry].findLastIndex((first) => first <= name) : -1;
    if (at < 0) return null;
    const talks = await load(`talks/${entry}-${at}.js`);
    return Object.hasOwn(talks, name) ? String(talks[name]) : null;
  }

  // Beside each other conversation of the case a link that shows both.
  function links(here) {
    for (const link of all(".others a, .trials a")) {
      const there = talkOf(link.href);
      if (there) link.after(" ", make("a", { class: "both-link", href: `beside.html#a=${here}&b=${there}`, "aria-label": `${link.textContent} side by side with this` }, "side by side"));
    }
  }

  // The neighbours in the list that the reader came from, and the way back to it.
  function walk(here) {
    let kept = null;
    try { kept = JSON.parse(sessionStorage.getItem("deskbench-list")); } catch { return; }
    const talks = kept?.root === new URL(".", location.href).href ? kept.talks.map(talkOf) : [], at = talks.indexOf(here);
    if (at < 0) return;
    const link = (id, words, talk) => (talk ? [make("a", { id, href: `talk.html#${talk}` }, words)] : []);
    const list = make("a", { id: "list", href: `${kept.search ? "search" : "transcripts"}.html#${kept.filter}` }, "Your list");
    document.querySelector(".siblings")?.append(make("span", { class: "whole told" }, "· ", list, ` (${at + 1} of ${talks.length}): `,
      ...link("previous-listed", "previous", talks[at - 1]), " ", ...link("next-listed", "next", talks[at + 1])));
  }

  // The message or call that the address names.
  function aim() {
    for (const element of all(".aimed")) element.classList.remove("aimed");
    const element = one(location.hash.split("/")[2] ?? "");
    if (!one("talk").contains(element)) return false;
    if (element.matches("details")) element.open = true;
    element.classList.add("aimed");
    element.scrollIntoView();
    return true;
  }

  const go = (by) => { const reached = step(all(".msg"), by); if (reached) { history.replaceState(null, "", `#${talkOf(location.href)}/${reached.id}`); aim(); } };
  const follow = (id) => { const link = one(id); if (link?.checkVisibility()) link.click(); };
  const KEYS = {
    j: ["next message", () => go(1)],
    k: ["previous message", () => go(-1)],
    ".": ["next conversation in your list", () => follow("next-listed")],
    ",": ["previous conversation in your list", () => follow("previous-listed")],
    f: ["next failure of this model", () => follow("next-failure")],
    F: ["previous failure of this model", () => follow("previous-failure")],
  };

  async function show() {
    const place = one("talk"), here = talkOf(location.href);
    if (here && place.dataset.at === here) { if (!aim()) scrollTo(0, 0); return; }
    let markup = null, why = "There is no conversation at this address.";
    try { markup = await found(here); } catch { why = "The file of this conversation is missing or damaged: copy the whole folder of the site again."; }
    if (here !== talkOf(location.href)) return; // the reader has gone on
    const moved = place.dataset.at !== undefined;
    globalThis.deskbench.labels.place();
    place.replaceChildren(markup === null ? "" : built(markup, here));
    place.dataset.at = here;
    one("talk-note").hidden = markup !== null;
    one("talk-note").replaceChildren(why, " Choose one from the ", make("a", { href: "transcripts.html" }, "list of transcripts"), ".");
    document.title = place.firstElementChild?.dataset.title ?? "Transcript · Deskbench";
    if (markup === null) return;
    links(here);
    walk(here);
    globalThis.deskbench.labels.labelForm();
    if (window.top !== window) for (const link of all("#talk a[href]:not([href^='#'])")) link.target = "_top";
    if (!aim() && moved) scrollTo(0, 0);
  }

  function transcript() {
    if (!one("talk")) return;
    if (window.top !== window) document.documentElement.dataset.framed = "yes";
    addKeys(KEYS);
    addEventListener("hashchange", show);
    show();
  }

  const TALK = /^[a-z0-9-]+\/[a-z0-9-]+$/;
  function beside() {
    if (!one("beside-a")) return;
    const show = () => {
      const kept = new URLSearchParams(location.hash.slice(1));
      for (const side of ["a", "b"]) {
        const name = kept.get(side) ?? "", right = TALK.test(name);
        one(`beside-${side}`).hidden = !right;
        if (right) one(`beside-${side}`).contentWindow.location.replace(new URL(`talk.html#${name}`, location.href));
      }
      one("beside-note").hidden = TALK.test(kept.get("a") ?? "") && TALK.test(kept.get("b") ?? "");
    };
    one("beside-swap").addEventListener("click", () => {
      const kept = new URLSearchParams(location.hash.slice(1));
      location.hash = new URLSearchParams({ a: kept.get("b") ?? "", b: kept.get("a") ?? "" });
    });
    addEventListener("hashchange", show);
    show();
  }

  document.addEventListener("DOMContentLoaded", () => { transcript(); beside(); });
})();
