// A table whose cells can be pressed. Every text is set as text, never as HTML.

const STYLE = `table{border-collapse:collapse;width:100%;font-size:12px;line-height:1.35;margin:.3rem 0;color:var(--jp-content-font-color1,inherit)}
th,td{text-align:left;vertical-align:top;padding:.2rem .35rem;border-bottom:1px solid var(--jp-border-color2,#d5dbe1);overflow-wrap:break-word}
th{border-bottom-color:var(--jp-ui-font-color2,#5b6773);vertical-align:bottom}
.number{text-align:right;font-variant-numeric:tabular-nums}
button{all:unset;cursor:pointer;font:inherit;color:var(--jp-content-link-color,#0b57d0);text-decoration:underline}
button:focus-visible{outline:2px solid var(--jp-brand-color1,#1976d2);outline-offset:1px}`;

function render({ model, el }) {
  const root = el.attachShadow({ mode: "open" });
  const make = (name, text, className = "") => Object.assign(document.createElement(name), { textContent: text, className });
  const kind = (column) => (model.get("numeric")[column] ? "number" : "");
  const table = make("table", ""), top = table.createTHead().insertRow(), body = table.createTBody();
  model.get("heads").forEach((head, column) => { top.appendChild(make("th", head, kind(column))).scope = "col"; });
  model.get("rows").forEach((texts, row) => {
    const line = body.insertRow();
    texts.forEach((text, column) => {
      const linked = model.get("links")[row][column], cell = line.appendChild(make("td", linked ? "" : text, kind(column)));
      if (!linked) return;
      const button = cell.appendChild(make("button", text));
      button.title = "Show these conversations";
      button.addEventListener("click", () => model.send({ row, column, nonce: Date.now() }));
    });
  });
  root.append(make("style", STYLE), table);
}

export default { render };
