"""Players for tests: what they do in a chair is a list of answers, the last one for whatever else is asked."""

import asyncio

import aiohttp

from benchmark_lib.extras.sitting.port import serving
from benchmark_lib.extras.sitting.session import play, seated

HAND_OVER = ("call", [("hand_over_to_human", {"queue": "general", "reason": "a test", "summary": "nothing checked"})])
PASS_ON = [HAND_OVER, ("say", "I am passing this on to a colleague.")]


def sitting(tmp_path, cases="slice", **options):
    """The chairs and the run of a sitting whose file is in a folder of the test."""
    return seated(cases=cases, trials=1, out=tmp_path / "played.deskbench", **options)


async def sit_through(chairs, number, answers):
    """Answer each conversation of a chair with `answers` until all are over; returns every item that was shown."""
    shown, left = [], []
    while not shown or shown[-1]["kind"] != "finished":
        items = await chairs.news(number, 20.0)
        shown += items
        if any(item["kind"] == "conversation" for item in items):
            left = [*answers]
        if chairs.my_turn(number):
            what, given = left.pop(0) if len(left) > 1 else left[0]
            getattr(chairs, what)(number, given)
    return shown


async def played(chairs, experiment, answers=PASS_ON):
    """Play a sitting with the same answers in every chair; returns the run and what each chair was shown."""
    players = [sit_through(chairs, number, answers) for number in range(1, chairs.count + 1)]
    run, *shown = await asyncio.gather(play(chairs, experiment), *players)
    return run, shown


class Curl:
    """Requests to the port of a sitting."""

    def __init__(self, session, address):
        self.session, self.address = session, address

    async def __call__(self, path, body=None, **headers):
        """Status and text of one request; a body makes it a POST."""
        method = "GET" if body is None else "POST"
        async with self.session.request(method, self.address + path, data=body, headers=headers) as answer:
            return answer.status, await answer.text()


async def over_the_port(chairs, experiment, player):
    """Play a sitting while `player(curl)` uses its port; stops it when the player is done."""
    async with serving(chairs, 0) as address, aiohttp.ClientSession() as session:
        playing = asyncio.ensure_future(play(chairs, experiment))
        try:
            found = await player(Curl(session, address))
        finally:
            experiment.stop("the test is over", 0.0)
        return await playing, found
