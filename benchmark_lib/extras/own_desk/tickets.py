"""Read tickets from a spreadsheet, and make a desk with a thin case for each."""

import keyword
import re
from collections import Counter, defaultdict
from difflib import get_close_matches
from email.utils import parseaddr
from pathlib import Path
from typing import Any

import orjson

from ...cli.codes import note
from ...errors import BadInput
from ...extension import offer
from ...language.sentences import fold
from ...project import slug as file_name
from ...scoring.written import words as words_of
from ...textfiles import as_yaml, read_text, unfilled, yes_or_no
from .desk_file import ANY_QUEUE, BASE, NAME, Row, files_of, name_of, refusal, slug, texts, without_empty
from .documents import first_of, read_sheet, sections_of, wording

Cells = dict[str, str]
Texts = dict[tuple[str, str], str]
KEY, TABLE = "request", "requests"
"""Key and table of the desk; no table is named ``tickets``, because end states omit changes to such a table."""
SHORT_POLICY, LONGEST_CODE = 6_000, 3
"""Maximum characters of a policy that the prompt repeats; maximum words of a value that is compared word for word."""
MOST, FAR, FEWEST = 2_000, 0.87, 2
"""Maximum number of tickets to scrub and group, cosine distance between groups, and minimum size of a group."""
WORD = r"(?u)\b[^\W\d_]{2,}\b"
EXAMPLES = ("example_1", "example_2", "example_3")
COLUMNS = ["id", "name", "count", "act", "queue", *EXAMPLES, "accepted"]


def read_cells(path: Path) -> tuple[dict[int, Cells], list[str]]:
    """Return the cells of each row by their names in ``try.yaml``, and the unused headings."""
    filled = read_sheet(path)
    if not filled:
        raise refusal("empty_sheet", path=path)
    headings = filled.pop(min(filled))
    known = {word: name for name, words in texts("try.yaml")["columns"].items() for word in words}
    plain = [" ".join(re.findall(r"[^\W_]+", fold(heading))) for heading in headings]
    names = [known.get(words, "") for words in plain]
    short = [at for at, words in enumerate(plain) if words in ("email", "e mail", "mail")]
    if names.count("email") == 2 and len(short) == 1 and "from" not in names:
        names[short[0]] = "from"  # if another column has the texts, Email has the address
    unused = {heading: words for heading, words, name in zip(headings, plain, names) if heading and not name}
    for heading, words in unused.items():
        near = get_close_matches(words, known, 1, 0.8)
        if near and known[near[0]] not in names:
            raise refusal("near_miss", path=path, heading=heading, near=known[near[0]])
    twice = next((name for name in names if name and names.count(name) > 1), "")
    if twice or "email" not in names:
        named = ", ".join(headings)[:300]
        raise refusal("headings_twice" if twice else "no_email", path=path, twice=twice, columns=named)
    if not filled:
        raise refusal("no_tickets", path=path)
    cells = {
        at: {name: cell for name, cell in zip([*names, *["beyond"] * len(row)], row) if name}
        for at, row in filled.items()
    }
    return cells, [*unused]


def tickets_of(rows: dict[int, Cells], path: Path) -> list[Row]:
    """Return the tickets; note each unusable row with the remedy, and refuse them together.

    Each has the parts of its case, its intent, what is `expected` in a few words, and a weight.
    """
    made, wrong = dict[str, Row](), 0
    for number, cells in rows.items():
        try:
            _refuse(cells.get("uneven", ""), beyond="beyond" in cells, uneven="uneven" in cells)
            ticket = _ticket(cells, number)
            _refuse(twice=ticket["id"] in made)
            made[ticket["id"]] = ticket
        except BadInput as error:
            note(f"row {number}: {error}")
            wrong += 1
    if wrong:
        raise refusal("unusable", path=path, wrong=wrong, rows=len(rows))
    return list(made.values())


def _refuse(named: str = "", /, **problems: Any) -> None:
    """Raise `BadInput` with the sentence of ``try.yaml`` for the first problem that exists."""
    for name in (name for name, there in problems.items() if there):
        raise BadInput(texts("try.yaml")["unusable"][name].format(named=named))


def _ticket(cells: Cells, number: int) -> Row:
    known = texts("try.yaml")
    get = dict.fromkeys(known["columns"], "") | {n: t for n, t in cells.items() if fold(t) not in known["nothing"]}
    tool = _name(get["tool"])
    over, refuse = _meant(get["handover"]), _meant(get["refuse"])
    given = _pairs(get["arguments"], "arguments")
    queue = _name(over)
    says = [text.strip() for text in get["must_say"].split("|") if text.strip()]
    _refuse(
        tool,
        no_email=not get["email"],
        address=re.fullmatch(r"\S+@\S+", get["email"]),
        braces=any(re.search("{[{%#]", text) for name, text in get.items() if name not in ("email", "subject")),
        count=not re.fullmatch(r"|\d{1,7}", get["tickets"]),
        tool=get["tool"] and not re.match(NAME, tool),
        own_tool=tool in known["own_tools"],
        queue=over and not re.match(NAME, queue),
        no_tool=given and not tool,
        both=tool and over and not refuse,
        nothing=not (tool or over or refuse or says),
    )
    name, sender = parseaddr(get["from"])
    own = _name(get["id"]) or str(number)
    words = (get["subject"] or get["email"]).split()
    title = " ".join(words[:9]) + " ..." * (len(words) > 9)
    hand = f"hand over to {queue}".removesuffix(f" to {ANY_QUEUE}") if queue else ""
    expected = " or ".join(filter(None, ["refuse" if refuse else tool, hand])) or "answer"
    why = "" if refuse in ("", ANY_QUEUE) else f" ({refuse})"
    knows = {name: str(value) for name, value in _pairs(get["knows"], "knows").items()}
    intent: Row = {"description": unfilled(f"{title}: {expected}{why}"), "act": tool, "queue": queue, "must_say": says}
    intent |= {"refuse": "refused" if refuse else "", "knows": knows, "goal": unfilled(title)}
    ticket: Row = {"id": own if re.match(NAME, own) else f"ticket_{own}", "title": title, "expected": expected}
    ticket |= {"email": get["email"], "subject": get["subject"], "values": given, "intent": intent}
    ticket |= {"name": get["name"] or name, "sender": sender if "@" in sender else ""}
    return ticket | {"weight": int(get["tickets"] or 1)}


def _name(text: str) -> str:
    name = name_of(text)
    return f"{name}_" if keyword.iskeyword(name) else name  # arguments of a tool cannot be keywords


def _meant(text: str) -> str:
    means = yes_or_no(text)
    return ANY_QUEUE if means else "" if means is False else text


def _pairs(text: str, column: str) -> dict[str, str | int]:
    how = texts("try.yaml")["how"]
    try:
        pairs = [*orjson.loads(text).items()] if text.startswith("{") else []
    except orjson.JSONDecodeError:
        raise refusal("json", column=column, how=how) from None
    for part in re.split(r"[;\n]|,\s*(?=[\w -]+=)", "" if pairs or text == "{}" else text):
        pairs += [(*map(str.strip, re.split("[=:]", part, maxsplit=1)), "")[:2]] if part.strip() else []
    values: dict[str, str | int] = {}
    for key, value in pairs:
        name = _name(key)
        plain = "yes" if value is True else "no" if value is False else str(value)
        if not re.match(NAME, name) or name in (KEY, *values) or value in ("", None) or isinstance(value, dict | list):
            raise refusal("pair", column=column, key=key, how=how)
        values[name] = int(plain) if re.fullmatch(r"-?(0|[1-9]\d{0,14})", plain) else plain
    return values


def scrub(rows: dict[int, Cells], tickets: list[Row], keep: list[str]) -> tuple[dict[int, Cells], int, int]:
    """Return rows without personal data, and the numbers of replacements and of doubtful places.

    The same value gets the same replacement in all rows. Names of values, ids, tools and queues are left unchanged. A
    row whose cells no longer agree has ``uneven``, the name of a value or column.
    """
    known, read, asked = texts("try.yaml"), list[Texts](), list[tuple[list[str], Row]]()
    for cells, ticket in zip(rows.values(), tickets, strict=True):
        own = {(name, ""): text for name, text in cells.items() if name not in known["unread"]}
        for column, values in (("arguments", ticket["values"]), ("knows", ticket["intent"]["knows"])):
            own |= {(column, name): str(value) for name, value in values.items()}
        given = {name: text for (_, name), text in own.items() if name and re.search(known["telling"], text)}
        apart = [part for text in own.values() for part in (text, "")]  # no cell answers the one before it
        asked.append((apart, {"name": ticket["name"], "email": ticket["sender"], "given": given}))
        read.append(own)
    scrubber = offer("package", "Scrubber")(keep, corpus=map(dict.values, rows.values()))
    done = [scrubber.texts(*one) for one in asked]
    pairs = [(old, new) for own, one in zip(read, done) for old, new in zip(own.values(), one.chat[::2])]
    gone = {code for old, new in pairs for code in re.findall(known["code"], old) if code not in new}
    uneven = gone.intersection(code for _, new in pairs for code in re.findall(known["code"], new))
    for code in uneven:
        scrubber.learn(code, personal=True)
    done = [scrubber.texts(*one) for one in asked] if uneven else done
    clean = {number: cells | _cells(own, one.chat[::2]) for (number, cells), own, one in zip(rows.items(), read, done)}
    return clean, sum(one.counts.total() for one in done), sum(len(one.left) for one in done)


def _cells(own: Texts, texts_now: list[str]) -> Cells:
    """Return scrubbed cells; ``uneven`` names a value in which two no longer agree."""
    new, pairs = dict(zip(own, texts_now, strict=True)), defaultdict[str, Cells](dict)
    cells = {column: text for (column, name), text in new.items() if not name}
    for (column, name), text in own.items():
        if name:
            pairs[column][name] = new[column, name]
        for was, now in zip(text.split("|"), new[column, name].split("|")):
            whole = rf"(?<!\w){re.escape(was.strip())}(?!\w)"
            had = (place for place, cell in own.items() if was.strip() in cell and re.search(whole, cell))
            if was.strip() and any(now.strip() not in new[place] for place in had):
                cells["uneven"] = name or column
    return cells | {column: orjson.dumps(values).decode() for column, values in pairs.items()}


def intents_of(path: Path) -> tuple[list[Row], dict[str, int]]:
    """Return a row for each group of similar tickets in a CSV file, and counts by outcome.

    Of more than `MOST` tickets, only some are read. A ticket that may still contain personal data is never shown.
    """
    try:
        from sklearn.cluster import AgglomerativeClustering
        from sklearn.feature_extraction.text import TfidfVectorizer
    except ImportError:
        raise refusal("groups_need") from None
    import numpy as np

    cells = read_cells(path)[0].values()
    emails = [" ".join(filter(None, (row.get("subject"), row["email"]))) for row in cells if row.get("email")]
    emails = emails[:: -(-len(emails) // MOST) or 1]
    scrubber = offer("package", "Scrubber")(corpus=[[email] for email in emails])
    done = [scrubber.texts([email]) for email in emails]
    words = TfidfVectorizer(stop_words="english", sublinear_tf=True, min_df=FEWEST, token_pattern=WORD)
    grouping = AgglomerativeClustering(None, metric="cosine", linkage="average", distance_threshold=FAR)
    groups = np.full(len(done), -1)
    try:
        words.fit([one.chat[0] for one in done if not one.left])  # no name that may be left becomes a group's word
        vectors = words.transform([one.chat[0] for one in done]).toarray()
        groups[vectors.any(axis=1)] = grouping.fit_predict(vectors[vectors.any(axis=1)])
    except ValueError:
        raise refusal("few_words") from None
    centres = {group: vectors[groups == group].mean(0) for group in sorted({*groups} - {-1})}
    rows: list[Row] = []
    for group, count in Counter(groups[groups >= 0].tolist()).most_common():
        lift = centres[group] - np.mean([*centres.values()], axis=0)
        telling = [words.get_feature_names_out()[i] for i in np.argsort(-lift, kind="stable")[:3] if lift[i] > 0]
        if count >= FEWEST and telling:
            own = [i for i in np.flatnonzero(groups == group) if not done[i].left]
            own = sorted(own, key=lambda i: -round(vectors[i] @ centres[group], 9))[:3]
            near = [done[i].chat[0] for i in own]
            row = dict.fromkeys(COLUMNS, "") | dict(zip(EXAMPLES, near))
            row |= {"id": f"{slug('_'.join(telling))}_{len(rows) + 1}", "name": ", ".join(telling), "accepted": "off"}
            rows.append({**row, "count": count, "act": first_of(wording()["acts"], " ".join(telling), *near)})
    replaced = sum(sum(one.counts.values()) for one in done)
    back = sum(bool(one.left) for one in done)
    grouped = sum(row["count"] for row in rows)
    return rows, {"tickets": len(emails), "replaced": replaced, "back": back, "alone": len(emails) - grouped}


def desk_of_tickets(tickets: list[Row], policy: Path, name: str, title: str, day: str) -> dict[str, str]:
    """Return the files of a desk with one thin case for each ticket."""
    rows, cases = list[Row](), list[Row]()
    tools = defaultdict[str, list[Row]](list)
    for number, t in enumerate(tickets, 101):
        key = f"R-{number}"
        sender = t["sender"] or f"r-{number}@example.com"
        rows.append({KEY: key, "email": sender, "name": t["name"] or f"Customer {key}"})
        case = {"id": t["id"], "intent": t["id"], "row": key, "title": unfilled(t["title"]), "values": t["values"]}
        email = {"subject": unfilled(f"{t['subject'] or t['title']} [{key}]"), "text": unfilled(t["email"])}
        cases.append(without_empty(case) | {"email": email})
        tools[t["intent"]["act"]].append(t["values"])
    slots = {slot: words_of(slot) for ticket in tickets for slot in ticket["intent"]["knows"]}
    desk = {
        "subject": TABLE,
        "tables": {TABLE: {"key": KEY}},
        "proofs": [["email"]],
        "acts": {tool: _act(tool, own) for tool, own in tools.items() if tool},
        "questions": {slot: {"ask": texts("try.yaml")["ask"].format(w), "words": [w]} for slot, w in slots.items()},
        "refusals": {"refused": texts("try.yaml")["refusal"]},
        "intents": {t["id"]: without_empty(t["intent"]) | {"tickets": t["weight"]} for t in tickets},
    }
    base = re.sub(r"## Confirmation\n.*?(?=\n## )", "", read_text(BASE / "agent.md"), flags=re.S)
    text = read_text(policy)
    rules = f"\n## The rules\n{unfilled(text)}\n" if len(text) <= SHORT_POLICY else ""
    info = {"name": file_name(name), "title": title, "clock": f"{day}T10:00"}
    articles = ({"title": section.title, "text": unfilled(section.text)} for section in sections_of([policy]))
    files = files_of(as_yaml(desk), info, {TABLE: rows}, cases, articles)
    return files | {"policy.yaml": "{}\n", "prompts/agent.md": base + rules}


def _act(tool: str, tickets: list[Row]) -> Row:
    arguments, sets = Row(), {tool: "'done'"}
    for name in dict.fromkeys(name for values in tickets for name in values):
        own = [values[name] for values in tickets if name in values]
        free = any(len(str(value).split()) > LONGEST_CODE for value in own)
        choices = dict.fromkeys(map(str, own))
        if len(choices) == 1:  # one choice would give the answer away
            choices |= dict.fromkeys(("yes", "no") if choices.keys() <= {"yes", "no"} else ("other",))
        coded = not (free or any(re.search(r"[\d@]", value) for value in choices))
        argument = {"about": f"The {words_of(name)}.", "number": all(isinstance(value, int) for value in own)}
        argument |= {"choices": [*choices] if coded else [], "optional": free or len(own) < len(tickets)}
        arguments[name] = without_empty(argument)
        sets |= {} if free else {f"{tool}_{name}": f"given.get('{name}')"}
    about = f"{words_of(tool).capitalize()}, for the request of a customer."
    return {"about": about, "confirm": False, "arguments": arguments, "sets": sets}
