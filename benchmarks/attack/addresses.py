"""Part: base URLs that carry a password and a key; neither may appear in anything that is written or printed."""

import gzip
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .figure import ROOT, Ended, Figure, count, deskbench
from .server import serving

SECRETS = ("canary-user-71", "canary-password-72", "canary-key-73")


def measure(seed: int, seconds: float) -> Iterator[Figure]:
    """Yield the figures of this part."""
    with tempfile.TemporaryDirectory() as name, serving("plain") as endpoint:
        folder = Path(name)
        (folder / "data" / "runs").mkdir(parents=True)
        (folder / "pyproject.toml").write_text("")  # a project of its own, so that nothing is written into this one
        scheme, rest = endpoint.base_url.split("://")
        url = f"{scheme}://{SECRETS[0]}:{SECRETS[1]}@{rest}?key={SECRETS[2]}"
        settings = folder / "settings.yaml"
        settings.write_text(f"agent: {{base_url: '{url}'}}\n")
        asked = f"{endpoint.base_url}?key={SECRETS[2]}"
        ends = [deskbench(line, folder) for line in _lines(url, asked, settings)]
        settings.unlink()
        yield count("places in printed words that hold a password or key of an address", sum(map(_spoken, ends)))
        hits = {
            path.name: _hits(path.read_bytes())
            for path in sorted(folder.rglob("*"))
            if path.is_file() and _hits(path.read_bytes())
        }
        yield count("places in written files that do", sum(hits.values()), None, ", ".join(hits))
        yield count("commands with such an address that end in a traceback", sum(e.traceback for e in ends), len(ends))


def _lines(url: str, asked: str, settings: Path) -> list[list[str]]:
    common = ["--cases", "address_change_1", "--trials", "1", "--messages", "2"]
    both, nowhere = ["run", "some-model", "--customer", "some-model"], url.replace("/v1", "/nowhere")
    return [
        ["run", "some-model", "--base-url", url, *common, "--out", "data/runs/one.deskbench"],
        ["run", "some-model", "--settings", str(settings), *common, "--out", "data/runs/two.deskbench"],
        [*both, "--base-url", url, "--customer-base-url", url, *common, "--out", "data/runs/three.deskbench"],
        ["doctor", "some-model", "--base-url", url],
        ["run", "some-model", "--base-url", nowhere, *common, "--out", "data/runs/four.deskbench"],
        [*_notebook(url), "-p", "trials=1", "--out", "both"],
        ["run", "some-model", "--base-url", asked, *common, "--out", "data/runs/five.deskbench"],
        [*_notebook(asked), "-p", "out=data/runs/six.deskbench", "--out", "query"],
        ["demo", "--model", "some-model", "--base-url", asked, "--cases", "address_change_1", "--trials", "1"],
        ["site", "data/runs"],
    ]


def _notebook(url: str) -> list[str]:
    given = ("model=some-model", f"base_url={url}", "cases=address_change_1")
    return [
        "notebook",
        str(ROOT / "notebooks" / "01_run_model.ipynb"),
        *(word for one in given for word in ("-p", one)),
    ]


def _spoken(ended: Ended) -> int:
    return _hits(ended.said.encode())


def _hits(data: bytes) -> int:
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return sum(data.count(secret.encode()) for secret in SECRETS)
