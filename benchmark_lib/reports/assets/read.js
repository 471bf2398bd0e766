// A transcript: keys from message to message, along the reader's list and from failure to failure, and two transcripts side by side.
(() => {
  "use strict";

  const { all, one, make, addKeys, step } = globalThis.deskbench;
  const TALK = /^transcripts\/[a-z0-9-]+\/[a-z0-9-]+$/;

  // The address of a transcript from the site's root, without the suffix; empty for anything else.
  const talkOf = (href) => { const found = /(transcripts\/[a-z0-9-]+\/[a-z0-9-]+)\.html$/.exec(href); return found && TALK.test(found[1]) ? found[1] : ""; };

  // Beside each other conversation of the case a link that shows both.
  function links() {
    const here = talkOf(location.pathname);
    for (const link of all(".others a, .trials a")) {
      const there = talkOf(link.pathname);
      if (here && there) link.after(" ", make("a", { class: "both-link", href: `../../beside.html#a=${here}&b=${there}`, "aria-label": `${link.textContent} side by side with this` }, "side by side"));
    }
  }

  // The neighbours in the list that the reader came from, and the way back to it.
  function walk() {
    let kept = null;
    try { kept = JSON.parse(sessionStorage.getItem("deskbench-list")); } catch { return; }
    const talks = kept?.root === new URL("../../", location.href).href ? kept.talks.map(talkOf) : [], at = talks.indexOf(talkOf(location.pathname));
    if (at < 0) return;
    const link = (id, words, talk) => (talk ? [make("a", { id, href: `../../${talk}.html` }, words)] : []);
    const list = make("a", { id: "list", href: `../../${kept.search ? "search" : "transcripts"}.html#${kept.filter}` }, "Your list");
    document.querySelector(".siblings").append(make("span", { class: "whole told" }, "· ", list, ` (${at + 1} of ${talks.length}): `,
      ...link("previous-listed", "previous", talks[at - 1]), " ", ...link("next-listed", "next", talks[at + 1])));
  }

  function transcript() {
    if (!document.querySelector(".talk")) return;
    links();
    walk();
    if (window.top !== window) {
      document.documentElement.dataset.framed = "yes";
      for (const link of all("a[href]:not([href^='#'])")) link.target = "_top";
    }
    const go = (by) => { const reached = step(all(".msg"), by); if (reached) history.replaceState(null, "", `#${reached.id}`); };
    const follow = (id) => { const link = one(id); if (link?.checkVisibility()) link.click(); };
    addKeys({
      j: ["next message", () => go(1)],
      k: ["previous message", () => go(-1)],
      ".": ["next conversation in your list", () => follow("next-listed")],
      ",": ["previous conversation in your list", () => follow("previous-listed")],
      f: ["next failure of this model", () => follow("next-failure")],
      F: ["previous failure of this model", () => follow("previous-failure")],
    });
  }

  function beside() {
    if (!one("beside-a")) return;
    const show = () => {
      const kept = new URLSearchParams(location.hash.slice(1));
      for (const side of ["a", "b"]) {
        const name = kept.get(side) ?? "", right = TALK.test(name);
        one(`beside-${side}`).hidden = !right;
        if (right) one(`beside-${side}`).contentWindow.location.replace(new URL(`${name}.html`, location.href));
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
