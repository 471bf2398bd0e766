// A part of a page of the site, already escaped by its Python template. A click on a link is sent to Python.

function render({ model, el }) {
  const page = document.createElement("div");
  page.className = "db-page";
  page.innerHTML = model.get("html");
  page.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!link) return;
    event.preventDefault();
    const address = link.getAttribute("href");
    if (address.startsWith("#")) document.getElementById(address.slice(1))?.scrollIntoView();
    else model.send({ address, nonce: Date.now() });
  });
  el.replaceChildren(page);
}

export default { render };
