"""A page that shows a widget as JupyterLab does, with the Python object behind it and no server between them."""

from contextlib import contextmanager

from browser import DESKTOP, open_page

MODEL = """
const state = STATE, heard = new Map();
const tell = (event, ...about) => { for (const act of [...(heard.get(event) ?? [])]) act(...about); };
const changed = (next) => { for (const [name, value] of Object.entries(next)) if (JSON.stringify(state[name]) !== JSON.stringify(value)) { state[name] = value; tell(`change:${name}`); } };
const dirty = new Set();
const model = {
  get: (name) => state[name],
  set(name, value) { if (JSON.stringify(state[name]) === JSON.stringify(value)) return; state[name] = value; dirty.add(name); tell(`change:${name}`); },
  async save_changes() { const sent = Object.fromEntries([...dirty].map((name) => [name, state[name]])); dirty.clear(); changed(await window.saved(sent)); },
  async send(message) { const [next, reply] = await window.sent(message); changed(next); tell("msg:custom", reply); },
  on: (events, act) => { for (const event of events.split(" ")) heard.set(event, [...(heard.get(event) ?? []), act]); },
  off: (events, act) => { for (const event of events.split(" ")) heard.set(event, (heard.get(event) ?? []).filter((one) => one !== act)); },
};
window.fromPython = changed;
const code = URL.createObjectURL(new Blob([ESM], { type: "text/javascript" }));
import(code).then(({ default: widget }) => widget.render({ model, el: document.getElementById("out") })).catch((error) => { document.title = String(error); throw error; });
"""


def state_of(widget):
    """Return the traits that the page knows."""
    names = [
        n for n in widget.traits(sync=True) if not n.startswith("_") and n not in ("layout", "tabbable", "tooltip")
    ]
    return {name: getattr(widget, name) for name in names}


@contextmanager
def shown_in_lab(browser, widget, size=DESKTOP):
    """Open a page with a widget; yield the page, what it did, and a function that hands over what Python changed."""
    import json

    def sent(message):
        reply = widget._answer(message)
        return [state_of(widget), reply]

    def saved(state):
        widget.set_state(state)
        return state_of(widget)

    with open_page(browser, size) as (page, seen):
        page.set_default_timeout(20_000)
        page.expose_function("sent", sent)
        page.expose_function("saved", saved)
        page.set_content('<!doctype html><body data-jp-theme-light="true"><div id="out"></div></body>')
        before, after = MODEL.split("ESM")
        code = before.replace("STATE", json.dumps(state_of(widget)), 1) + json.dumps(str(widget._esm)) + after
        page.evaluate(f"() => {{ {code} }}")
        page.locator("#talk-status", has_text="conversation").wait_for()
        try:
            yield page, seen, lambda: page.evaluate("state => window.fromPython(state)", state_of(widget))
        finally:
            page.close()  # what is exposed to a page stays
