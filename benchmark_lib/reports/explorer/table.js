// A table whose rows, headings and cells can be pressed. Every text is set as text, never as HTML.

function render({ model, el }) {
  const make = (name, className, text) => {
    const node = document.createElement(name);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const press = (what) => model.send({ ...what, nonce: Date.now() });
  const draw = () => {
    const heads = model.get("heads"), rows = model.get("rows"), links = model.get("links");
    const whole = model.get("whole_rows"), sorted = model.get("sorted_by"), numeric = model.get("numeric");
    const table = make("table", "db-table"), top = table.createTHead().insertRow(), body = table.createTBody();
    heads.forEach((head, column) => {
      const cell = top.appendChild(make("th", numeric[column] ? "number" : ""));
      cell.scope = "col";
      if (!whole) { cell.textContent = head; return; }
      const up = sorted[0] === column ? (sorted[1] ? " ▼" : " ▲") : "";
      const button = cell.appendChild(make("button", "", head + up));
      if (sorted[0] === column) cell.ariaSort = sorted[1] ? "descending" : "ascending";
      button.addEventListener("click", () => press({ head: column }));
    });
    rows.forEach((texts, row) => {
      const line = body.insertRow();
      if (whole) {
        line.className = row === model.get("selected") ? "selected" : "";
        line.addEventListener("click", () => press({ row, column: 0 }));
      }
      texts.forEach((text, column) => {
        const cell = line.appendChild(make("td", numeric[column] ? "number" : ""));
        const linked = whole ? column === 0 : (links[row] || [])[column];
        if (!linked) { cell.textContent = text; return; }
        const button = cell.appendChild(make("button", "link", text));
        button.title = whole ? "Read this conversation" : "Show these conversations";
        button.addEventListener("click", (event) => { event.stopPropagation(); press({ row, column }); });
      });
    });
    el.replaceChildren(table);
  };
  const changed = "change:heads change:rows change:links change:selected change:sorted_by";
  model.on(changed, draw);
  draw();

  const root = () => el.closest(".db-explorer");
  const keyed = (event) => {
    const typed = event.target.closest("input, textarea, select");
    if (typed || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (!model.get("hears").includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    if (root().classList.contains("db-busy")) return; // what it would answer is not on screen yet
    root().classList.add("db-busy");
    press({ key: event.key });
  };
  let listening = null;
  const listen = () => {
    listening = root();
    if (!listening || !model.get("hears").length) return;
    listening.tabIndex = -1;
    listening.setAttribute("data-lm-suppress-shortcuts", "true"); // JupyterLab's own keys: y would turn the cell into code
    listening.addEventListener("keydown", keyed);
  };
  const waiting = setTimeout(listen); // the widget is put into the page after this
  const told = (message) => {
    if (message.show) root()?.querySelector(`.${message.show}`)?.scrollIntoView({ block: "start" });
    if (message.heard) root()?.classList.remove("db-busy");
    if (message.focus) root()?.focus({ preventScroll: true });
  };
  model.on("msg:custom", told);
  return () => {
    clearTimeout(waiting);
    listening?.removeEventListener("keydown", keyed);
    model.off(changed, draw);
    model.off("msg:custom", told);
  };
}

export default { render };
