"""Every kind of page: what fills it, and where it goes."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from ...analysis.dictionary import DICTIONARY
from ...records import BUCKETS, ENDINGS
from ...scoring.deciding import SUCCESS_STATES
from .board import BLOCKS, board
from .cases import case_view
from .charts import escalation_both_ways, pressure_chart, value_picture
from .compare import comparison
from .content import Content
from .downloads import run_rows, write_downloads
from .folder import Folder, Subfolder
from .method import method_view
from .models import ToolUse, model_view
from .talks import Talk, read_talks, transcript
from .words import environment, words


class Pages:
    """Writes the pages of one site.

    Parameters
    ----------
    content : Content
        What they say.
    folder : Folder
        Where they go.
    hard : dict, optional
        The families of the hard set, see `benchmark_lib.reports.site.hard`.
    of_hard_set : bool
        Whether these are the pages of the hard set, which stand in a folder of their own.
    """

    def __init__(
        self,
        content: Content,
        folder: Folder | Subfolder,
        hard: dict[str, Any] | None = None,
        of_hard_set: bool = False,
    ):
        self.content, self.folder, self.hard = content, folder, hard
        self.talks: list[Talk] = []
        self.tools: dict[str, ToolUse] = defaultdict(ToolUse)
        for talk, raw in read_talks(content):
            self.talks.append(talk)
            self.tools[talk.entry.page or ""].add(raw)
        self.by_entry, self.by_case = defaultdict(list), defaultdict(list)
        for talk in self.talks:
            self.by_entry[talk.entry.page].append(talk)
            self.by_case[talk.view.case_id].append(talk)
        from ...project import code_version

        stores = sorted({str(v) for v in content.conversations["store_version"].dropna().unique()})
        other = ("Core set", "../index.html") if of_hard_set else ("Hard set", "hard/index.html") if hard else None
        self.site = {"canary": content.canary, "version": code_version()["version"], "stores": stores}
        self.site |= {"hard": of_hard_set, "other": other}

    def write_all(self) -> None:
        """Write every page."""
        self.front()
        self.models()
        self.cases()
        self.lists()
        self.method_and_downloads()
        self.transcripts()

    def _write(self, name: str, template: str, kind: str, here: str = "", **values: Any) -> None:
        root = "../" * name.count("/")
        text = (
            environment()
            .get_template(f"site/{template}.html.j2")
            .render(root=root, here=here, site=self.site, **values)
        )
        self.folder.write(f"{name}.html", text, kind)

    def front(self) -> None:
        """The leaderboard with its charts."""
        content = self.content
        models = [e for e in content.played if e.block in ("ranked", "not ranked")]
        players = {e.name for e in content.played if e.block == "played"}
        sizes = Counter(v.bucket for v in content.cases.values())
        facts = [
            ("Models measured", len({e.row["model"] for e in models})),
            ("Scripted agents", len({e.row["model"] for e in content.played if e.block == "scripted"})),
            *([("Players", len(players))] if players else []),
            ("Conversations", f"{len(self.talks):,}"),
            *((words(b).capitalize(), sizes[b]) for b in BUCKETS if sizes[b]),
        ]
        self._write(
            "index",
            "index",
            "page",
            "index",
            board=board(content),
            facts=facts,
            models=models,
            players=players,
            published=any(not e.page for e in content.entries),
            value=value_picture(content),
            escalation=escalation_both_ways(content),
            titles=BLOCKS,
            pressure=pressure_chart(content),
            hard=self.hard,
        )

    def models(self) -> None:
        """One page per model."""
        for entry in self.content.played:
            view = model_view(self.content, entry, self.by_entry[entry.page], self.tools[entry.page or ""])
            self._write(f"models/{entry.page}", "model", "model", v=view)

    def cases(self) -> None:
        """One page per case."""
        for view in self.content.cases.values():
            self._write(
                f"cases/{view.page}", "case", "case", v=case_view(self.content, view, self.by_case[view.case_id])
            )

    def lists(self) -> None:
        """The lists of traps, cases and transcripts, and the comparison."""
        content = self.content
        self._write("traps", "traps", "page", "traps", kinds=self._traps(), entries=content.played)
        cases = [{"view": v, "count": self._count(v.case_id)} for v in content.cases.values()]
        sizes = Counter(v.bucket for v in content.cases.values())
        self._write("cases", "cases", "page", "cases", cases=cases, buckets=[(b, sizes[b]) for b in sizes])
        self._write(
            "transcripts",
            "transcripts",
            "page",
            "transcripts",
            total=f"{len(self.talks):,}",
            entries=content.played,
            data=self._talk_data(),
        )
        self._write("compare", "compare", "page", "compare", data=comparison(content, self.talks))

    def _traps(self) -> list[tuple[str, list[dict[str, Any]]]]:
        """Traps by failure kind, each with its conversations by entry."""
        kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for view in self.content.traps:
            talks = sorted(self.by_case[view.case_id], key=lambda t: t.trial)
            cells = [[t for t in talks if t.entry is e] for e in self.content.played]
            kinds[view.kind or "other"].append(
                {
                    "view": view,
                    "cells": cells,
                    "unsafe": sum(t.state == "unsafe" for t in talks),
                    "n": sum(t.state != "none" for t in talks),
                }
            )
        return list(kinds.items())

    def _count(self, case_id: str) -> dict[str, Any] | None:
        states = [t.state for t in self.by_case[case_id] if t.state != "none"]
        good = states.count("good")
        return {"k": good, "n": len(states), "width": f"{100 * good / len(states):.1f}"} if states else None

    def _talk_data(self) -> dict[str, Any]:
        """All conversations as the list embeds them: each name once, and a few numbers per conversation."""
        content = self.content
        entries, cases = content.played, list(content.cases.values())
        entry_at, case_at = {id(e): i for i, e in enumerate(entries)}, {v.case_id: i for i, v in enumerate(cases)}
        endings = sorted(
            {t.ended_by for t in self.talks}, key=lambda e: (list(ENDINGS).index(e) if e in ENDINGS else 99, e)
        )
        whys = sorted({"; ".join(t.why) for t in self.talks})
        why_at, ending_at, state_at = (
            {name: i for i, name in enumerate(names)} for names in (whys, endings, SUCCESS_STATES)
        )
        rows = sorted(
            [
                entry_at[id(t.entry)],
                case_at[t.view.case_id],
                t.trial,
                state_at[t.state],
                ending_at[t.ended_by],
                why_at["; ".join(t.why)],
            ]
            for t in self.talks
        )
        return {
            "entries": [{"name": e.name, "page": e.page, "kind": BLOCKS.get(e.block, (e.block,))[0]} for e in entries],
            "cases": [
                {
                    "id": v.case_id,
                    "title": v.title,
                    "bucket": v.bucket,
                    "intent": words(v.intent),
                    "page": v.page,
                    "language": v.language,
                }
                for v in cases
            ],
            "states": [{"key": k, "sign": sign, "word": word} for k, (sign, word) in SUCCESS_STATES.items()],
            "endings": [words(e) for e in endings],
            "whys": whys,
            "rows": rows,
        }

    def method_and_downloads(self) -> None:
        """The methodology page, the downloads, the page that lists them, and the one that explains their columns."""
        published = any(not e.page for e in self.content.entries)
        self._write(
            "methodology", "methodology", "page", "methodology", m=method_view(self.content), published=published
        )
        self._write("dictionary", "dictionary", "page", "downloads", frames=DICTIONARY)
        files = write_downloads(self.content, self.folder)
        self._write("downloads", "downloads", "page", "downloads", files=files, runs=run_rows(self.content))

    def transcripts(self) -> None:
        """One page per conversation."""
        verdicts = self._verdicts()
        trials: dict[Any, list[Talk]] = defaultdict(list)
        beside: dict[Any, list[Talk]] = defaultdict(list)
        for talk in sorted(self.talks, key=lambda t: t.trial):
            trials[talk.entry.page, talk.view.case_id].append(talk)
            beside[talk.view.case_id, talk.trial].append(talk)
        records = (record for run in self.content.results.runs for record in run.records())
        for talk, record in zip(self.talks, records, strict=True):
            others = [t for t in beside[talk.view.case_id, talk.trial] if t.entry is not talk.entry]
            judged = verdicts.get((talk.run_id, talk.view.case_id, talk.trial), [])
            self._write(
                talk.href,
                "transcript",
                "transcript",
                t=talk,
                v=transcript(self.content, talk, record, judged),
                word=SUCCESS_STATES[talk.state][1],
                siblings=trials[talk.entry.page, talk.view.case_id],
                others=others,
            )

    def _verdicts(self) -> dict[tuple[str, str, int], list[dict[str, Any]]]:
        """Judges' verdicts by (run_id, case, trial)."""
        found: dict[tuple[str, str, int], list[dict[str, Any]]] = defaultdict(list)
        for row in self.content.results.verdicts.to_dict("records"):
            found[row["run_id"], row["case_id"], int(row["trial"])].append(row)
        return found
