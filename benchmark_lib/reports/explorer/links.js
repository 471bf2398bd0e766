// Tables made by Python, every text in them escaped there; a pressed number is passed on.
function render({ model, el }) {
  const draw = () => { el.innerHTML = model.get("html"); };
  el.addEventListener("click", ({ target }) => {
    const number = target.closest("button[data-query]");
    if (number) model.send({ query: number.dataset.query, nonce: Date.now() });
  });
  model.on("change:html", draw);
  draw();
  return () => model.off("change:html", draw);
}

export default { render };
