// What the pages of the site and the list in JupyterLab share: elements, queries, addresses of transcripts.
(() => {
  "use strict";

  // An element with properties and children; a text child stays text.
  function make(name, properties = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
      if (key === "class") element.className = value;
      else element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  }

  const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
  const pageName = /^[a-z0-9-]+$/;
  const talkPage = (entry, view, trial) =>
    pageName.test(entry.page) && pageName.test(view.page) ? `talk.html#${entry.page}/${view.page}-${Number(trial)}` : "index.html";
  // The entry and the conversation that the address of a transcript names; empty for any other address.
  const talkOf = (href) => /(?:^|\/)talk\.html#([a-z0-9-]+\/[a-z0-9-]+)(?:\/[a-z0-9-]*)?$/.exec(href)?.[1] ?? "";

  // What a script handed over as one packed text.
  async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return JSON.parse(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text());
  }

  // A query as benchmark_lib.analysis.query reads and writes it: bucket=adversarial unsafe=yes entry="gpt-5.5 [reasoning effort high]".
  const BARE = '[^\\s,"=]+', VALUE = `(?:"(?:[^"\\\\]|\\\\.)*"|${BARE})`;
  const quoted = (value) => (new RegExp(`^${BARE}$`).test(value) ? value : `"${value.replace(/[\\"]/g, "\\$&")}"`);
  const unquoted = (value) => (value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/gs, "$1") : value);
  const written = (kept) => [...new Set(kept.keys())].map((name) => `${name}=${kept.getAll(name).map(quoted).join(",")}`).join(" ");
  function parsed(text) {
    const term = new RegExp(`(${BARE})=(${VALUE}(?:,${VALUE})*)(?=\\s|$)`, "gs"), terms = [...text.matchAll(term)], rest = text.replace(term, "").trim();
    if (rest) terms.push([rest, rest, '""']);
    return terms.flatMap(([, name, values]) => [...values.matchAll(new RegExp(VALUE, "gs"))].map(([value]) => [name, unquoted(value)]));
  }
  // A query as part of a page's address.
  const address = (kept) => `#${encodeURIComponent(written(kept)).replaceAll("%3D", "=").replaceAll("%2C", ",")}`;

  function decoded(hash) { try { return decodeURIComponent(hash); } catch { return hash; /* a stray percent sign is text */ } }

  // Moves the focus along a list of elements, one step down or up.
  function step(elements, by) {
    const at = elements.indexOf(elements[0]?.getRootNode().activeElement);
    const next = elements[at < 0 ? (by > 0 ? 0 : elements.length - 1) : Math.min(Math.max(at + by, 0), elements.length - 1)];
    next?.focus();
    return next;
  }

  // Text as it is searched: reduced to plain letters, as by benchmark_lib.language.folding.
  const fold = (text) => text.toLowerCase().replaceAll("ß", "ss").replace(/[\u00a0\u202f\u2009\n\t]/g, " ").replace(/[–—‑−]/g, "-").replace(/[’‘]/g, "'").replaceAll("*", "");

  globalThis.deskbench = { make, plural, pageName, talkPage, talkOf, unpacked, step, written, parsed, address, decoded, fold, packed: [] };
})();
