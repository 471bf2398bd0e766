"""The trained reader, measured on messages of a writer who had seen neither its patterns nor its training sentences.

The writer was asked for hard ones: words that are named and not asked for, requests without a question mark, negations,
two things in one sentence. The bounds lie a little under what was measured when the set was first opened.
"""

from collections import Counter

import orjson
import pytest

from benchmark_lib.language.parser import MessageParser, parser_of
from benchmark_lib.language.said import PROMISES
from benchmarks.readers import hash_of, rows_of, train

LANGUAGES = ("en", "es", "fr", "de")
PRECISION = {"ask": 0.84, "yes": 0.88, "done": 0.94}
RECALL = {"ask": 0.7, "yes": 0.76, "done": 0.56}


@pytest.fixture(scope="module")
def folder(store):
    return store.path / "reader"


def measured(parser, rows):
    """Hits, false alarms and misses by act."""
    found = Counter()
    for row in rows:
        given = {label for s in row["sentences"] for label in s["l"]}
        heard = parser.parse("\n".join(s["t"] for s in row["sentences"]))
        got = (
            {f"ask:{s}" for s in heard.asked}
            | {f"done:{t}" for t in heard.claimed}
            | ({"yes"} if heard.confirm else set())
        )
        for act in PRECISION:
            wanted, mine = ({label for label in labels if label.split(":")[0] == act} for labels in (given, got))
            found.update(
                {
                    (act, "hit"): len(wanted & mine),
                    (act, "false"): len(mine - wanted),
                    (act, "missed"): len(wanted - mine),
                }
            )
    return found


def test_the_reader_on_messages_that_nobody_saw_who_made_it(store, folder, capsys):
    found = Counter()
    with capsys.disabled():
        print("\nlanguage  act   precision  recall  of")
        for language in LANGUAGES:
            rows = [orjson.loads(x) for x in (folder / "locked" / f"{language}.jsonl").read_bytes().splitlines()]
            mine = measured(parser_of(store), rows)
            found.update(mine)
            for act in PRECISION:
                hit, false, missed = (mine[act, kind] for kind in ("hit", "false", "missed"))
                print(
                    f"{language:8}  {act:4}  {hit / max(hit + false, 1):9.2f}  {hit / (hit + missed):6.2f}  {hit + missed}"
                )
    for act in PRECISION:
        hit, false, missed = (found[act, kind] for kind in ("hit", "false", "missed"))
        assert hit / (hit + false) >= PRECISION[act] and hit / (hit + missed) >= RECALL[act], act


def test_the_weights_are_of_the_sentences_beside_them(store, folder):
    assert parser_of(store).reader.trained_on == hash_of(folder, PROMISES), "rebuild them with `make reader`"


def test_no_locked_message_was_trained_on(folder):
    trained = {s["t"] for row in rows_of(folder, "sentences") for s in row["sentences"] if len(s["t"].split()) > 7}
    locked = {
        s["t"] for row in rows_of(folder / "locked", "sentences") for s in row["sentences"] if len(s["t"].split()) > 9
    }
    assert not trained & locked


def test_training_learns_what_a_sentence_does(store):
    pytest.importorskip("sklearn")
    rows = []
    for n in range(6):
        rows += [
            {"lang": "en", "sentences": [{"t": f"Please send a photo of the bag {n}.", "l": ["ask:photo"]}]},
            {"lang": "en", "sentences": [{"t": f"Please tell me the colour of the bag {n}.", "l": ["ask:color"]}]},
            {"lang": "en", "sentences": [{"t": f"The bag {n} is on its way.", "l": ["done:create_replacement"]}]},
            {"lang": "en", "sentences": [{"t": f"I can cancel order {n}.", "l": ["offer:cancel_order"]}]},
            {"lang": "en", "sentences": [{"t": "Shall I?", "l": ["yes"]}, {"t": "Anything else?", "l": ["bye"]}]},
            {"lang": "en", "sentences": [{"t": f"I cannot cancel order {n}.", "l": ["no:cancel_order"]}]},
        ]
    heard = MessageParser(store, train(parser_of(store), rows)[0]).parse("Please send a photo of the bag 9.")
    assert heard.asked == ["photo"] and not heard.confirm
