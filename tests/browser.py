"""A real browser for tests: Debian's Chromium, driven by Playwright, which never downloads one of its own.

What a page did is kept: its console errors, its dialogs, and every address it asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--no-first-run",
    "--hide-scrollbars",
)
DESKTOP, PHONE = (1280, 900), (390, 844)
IN_USE: set[Any] = set()
FORGET = "() => { try { localStorage.clear(); sessionStorage.clear(); } catch { /* it keeps nothing */ } }"


@contextmanager
def open_browser() -> Iterator[Any]:
    """A running Chromium; the test is skipped, with the mend, where there is none."""
    if not CHROMIUM.exists():
        pytest.skip(f"no browser at {CHROMIUM}: `make system` installs Debian's Chromium, or set CHROMIUM to another")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=[*ARGUMENTS])
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Seen:
    """What a page did since it was opened."""

    errors: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)
    blocked: list[str] = field(default_factory=list)

    def outside(self, folder: Path) -> list[str]:
        """Addresses that were asked for, neither a file of the folder nor data in the page itself.

        What the page's policy blocked never left.
        """
        inside = folder.resolve().as_uri() + "/"
        return [a for a in self.addresses if not a.startswith((inside, "data:")) and a not in self.blocked]


@contextmanager
def open_page(browser: Any, size: tuple[int, int] = DESKTOP, color_scheme: str = "light") -> Iterator[tuple[Any, Seen]]:
    """An empty page that remembers nothing, and what it does. A browser keeps one open: a new one costs more than a visit.

    Parameters
    ----------
    browser : Browser
        As `open_browser` gives it.
    size : (int, int)
        Width and height of the window.
    color_scheme : str
        ``light`` or ``dark``.
    """
    context = browser.contexts[0] if browser.contexts else browser.new_context()
    page, seen = next((one for one in context.pages if one not in IN_USE), None) or context.new_page(), Seen()
    IN_USE.add(page)
    context.set_default_timeout(60_000)
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(media="screen", color_scheme=color_scheme)
    heard = [
        (page, "console", lambda said: seen.errors.append(_error(said)) if said.type == "error" else None),
        (page, "pageerror", lambda error: seen.errors.append(str(error))),
        (page, "dialog", lambda dialog: (seen.dialogs.append(dialog.message), dialog.dismiss())),
        (context, "request", lambda asked: seen.addresses.append(asked.url)),
        (context, "requestfailed", lambda asked: seen.blocked.append(asked.url) if asked.failure == "csp" else None),
    ]
    for where, event, listener in heard:
        where.on(event, listener)
    try:
        yield page, seen
    finally:
        for where, event, listener in heard:
            where.remove_listener(event, listener)
        for other in {*context.pages} - IN_USE:
            other.close()
        IN_USE.remove(page)
        if not page.is_closed():
            page.evaluate(FORGET)
            page.goto("about:blank")


def violations(page: Any, impacts: tuple[str, ...] = ("serious", "critical"), rules: tuple[str, ...] = ()) -> list[str]:
    """What axe-core finds wrong with the page (by all its rules, or by `rules`), as lines of rule, impact and the first elements."""
    from axe_playwright_python.sync_playwright import Axe

    options = {"resultTypes": ["violations"], **({"runOnly": {"type": "rule", "values": list(rules)}} if rules else {})}
    found = Axe().run(page, options=options).response["violations"]
    return [
        f"{v['id']} ({v['impact']}): {[n['html'][:160] for n in v['nodes'][:3]]}"
        for v in found
        if v["impact"] in impacts
    ]


def _error(message):
    """An error of the console; of a request that failed, with its address."""
    failed = message.text.startswith("Failed to load resource")
    return f"{message.text} {message.location.get('url', '')}" if failed else message.text
