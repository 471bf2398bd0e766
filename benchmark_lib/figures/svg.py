"""Figures as SVG elements of a page: real text, colours for a stylesheet, marks as links."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from ..scoring.written import visible
from .style import STYLE, Lead, figure_notes, figure_of, is_narrow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
_NO_XML = re.compile("[\ufffe\uffff]")
_REFERENCE = re.compile(r"#([\w.-]+)")


def as_svg(ax: Axes, prefix: str, attributes: Callable[[Lead], Mapping[str, str]]) -> str:
    """Return a figure as an SVG element for a page.

    The element has no style, script or metadata, so it needs no exception from a content policy. Colours are
    presentation attributes, which any rule of a stylesheet overrides. The same figure gives the same bytes. Every id
    begins with `prefix`. `attributes` returns the attributes of a mark's element; with ``href``, it is a link.
    """
    import matplotlib.pyplot as plt

    buffer = BytesIO()
    no_layout = {"figure.constrained_layout.use": False, "figure.autolayout": False}
    with plt.style.context([STYLE, no_layout]):  # `canvas.fit` has placed every artist
        figure_of(ax).set_layout_engine(None)
        figure_of(ax).savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    root = ElementTree.fromstring(_NO_XML.sub("\ufffd", buffer.getvalue().decode()))
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{SVG}style", f"{SVG}metadata") or not child.tag.startswith(SVG):
                parent.remove(child)
    marks = figure_notes(ax).marks
    texts = [(key, v) for e in root.iter() for key, v in e.attrib.items()]
    used = {r for key, v in texts if key == LINK or "url(" in v for r in _REFERENCE.findall(v)}
    ids = {e.get("id"): f"{prefix}-{n}" for n, e in enumerate(root.iter()) if e.get("id") in used}
    for shape in root.iterfind(f".//{SVG}defs/{SVG}path"):
        shape.attrib.pop("style", None)  # its uses have it
    for element in root.iter():
        element.tag = element.tag.removeprefix(SVG)
        name = element.attrib.pop("id", None)
        _styled(element)
        _renamed(element, ids)
        if name in ids:
            element.set("id", ids[name])
        elif name in marks:
            _marked(element, marks[name], attributes(marks[name]))
    look = {"viewBox": root.get("viewBox", ""), "class": f"drawing {'narrow' if is_narrow(ax) else 'wide'}"}
    root.attrib = {**look, "role": "group", "aria-label": visible(figure_notes(ax).title)}
    return ElementTree.tostring(root, encoding="unicode")


def _renamed(element: ElementTree.Element, ids: Mapping[str | None, str]) -> None:
    for key, value in list(element.attrib.items()):
        if key == LINK:
            element.attrib.pop(LINK)
            # image data are not a reference
            element.set("href", value if value.startswith("data:") else f"#{ids[value.removeprefix('#')]}")
        elif "url(" in value:
            element.set(key, _REFERENCE.sub(lambda match: f"#{ids[match[1]]}", value))


def _styled(element: ElementTree.Element) -> None:
    # content policies forbid inline styles
    for rule in element.attrib.pop("style", "").split(";"):
        key, _, value = (part.strip() for part in rule.partition(":"))
        if key in ("font", "font-size"):
            element.set("font-size", (re.findall(r"[\d.]+px", value) or ["8px"])[0])
        elif key and not key.startswith(("font", "-")):
            element.set(key, value)


def _marked(element: ElementTree.Element, mark: Lead, more: Mapping[str, str]) -> None:
    element.tag = "a" if "href" in more else "g"
    words = {"data-tip": mark.tip, "aria-label": mark.tip} if mark.tip else {}
    alone = {"role": "img", "tabindex": "0"} if mark.tip and element.tag == "g" else {}
    element.attrib.update({key: visible(value) for key, value in {**words, **more, **alone}.items()})
