"""A small HTTP server for the chairs, for players that are programs.

Only programs on this machine can use it, and no web page can: requests that a page makes a browser send are refused.
"""

import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
from aiohttp import web

from ...conversation.speaker import CALLS_OF_HARD_CASES, CALLS_PER_TURN
from ...errors import BadInput
from .chairs import Chairs, Item, NotYourTurn
from .wording import as_text

HOST = "127.0.0.1"
WAIT_S = 30.0
"""Default seconds to hold back an answer while there is no news; ``?wait=`` sets another time."""
LONGEST_WAIT_S = 300.0
MOST_BYTES = 1_000_000

HELP = """\
You sit on one side of a support conversation. Each request below goes to {base}/CHAIR, where CHAIR is the number of your
chair (1 to {count}; with one chair it may be left out). Two players need two chairs: in one, each would act for the other.
Answers are plain text, in which lines that begin with a bar are quoted, or JSON with the header `Accept: application/json`.

GET  /CHAIR/next        what is new: first your instructions, then what the other side writes. It waits up to {wait:g} seconds
                        for something to come (?wait=5 for another time).
GET  /CHAIR/again       the whole conversation once more, from your instructions on.
{own}
When a conversation is over, GET /CHAIR/next begins the next one; when all of them are, it says so. It also says when the
last ones are being played in other chairs: you may stop then.
"""  # noqa: E501
OWN_HELP = {
    "agent": """\
POST /CHAIR/say         the body is your message; the answer is what is new after it.
POST /CHAIR/call/NAME   calls the tool NAME; the body is its arguments as a JSON object; the answer is its result.
POST /CHAIR/call        calls several tools; the body is [{{"name": "...", "arguments": {{...}}}}, ...].

A message ends your turn. Call tools before it: up to {calls} times in one turn, or {hard_calls} where there is much to do. A call
beyond that is not carried out; if you go on calling, the conversation ends.

  curl -s {base}/1/next
  curl -s {base}/1/call/NAME -d '{{"argument": "value"}}'
  curl -s {base}/1/say --data-binary @- <<'END'
  Dear customer, ...
  END
""",  # noqa: E501
    "customer": """\
POST /CHAIR/say         the body is your answer, in the form that your instructions ask for; the answer is what is new after it.

  curl -s {base}/1/next
  curl -s {base}/1/say --data-binary @- <<'END'
  {{"message": "Here is the photo.", "acts": [{{"kind": "attached", "what": "photo"}}], "end": false}}
  END
""",  # noqa: E501
}
"""Help on how to answer, for each side."""


@asynccontextmanager
async def serving(chairs: Chairs, port: int) -> AsyncIterator[str]:
    """Serve the chairs on a port of this machine (0: any free port); yield the address.

    Raise `BadInput` if the port is unavailable.
    """
    seats = Seats(chairs)
    application = web.Application(middlewares=[_answered, seats.admitted], client_max_size=MOST_BYTES)
    application.add_routes(seats.routes())
    quiet = logging.Logger(__name__)  # a player needs no log of broken requests
    quiet.addHandler(logging.NullHandler())
    runner = web.AppRunner(application, access_log=None, logger=quiet)
    await runner.setup()
    try:
        site = web.TCPSite(runner, HOST, port)
        try:
            await site.start()
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise BadInput(
                f"port {port} cannot be used ({why}): choose another --port, or 0 for any free one"
            ) from None
        yield f"http://{HOST}:{runner.addresses[0][1]}/{seats.token}"
    finally:
        await runner.cleanup()


OTHERS_PLAY = (
    "Nothing more for this chair: the last conversations are being played in other chairs. You may stop here; "
    "GET .../next says when all of them are over.\n"
)
ITS_TURN = "Nothing new: it is your turn. GET .../again shows the whole conversation.\n"
NOTHING_NEW = "Nothing new yet: GET .../next again.\n"


class Refused(Exception):
    """A request is rejected and has no effect; the text says how to correct it."""

    def __init__(self, text: str, status: int = 400):
        super().__init__(text)
        self.status = status


class Seats:
    """The server's requests; the `token` in the address keeps other users out."""

    def __init__(self, chairs: Chairs):
        self.chairs, self.token = chairs, secrets.token_urlsafe(12)

    def routes(self) -> list[web.RouteDef]:
        """Return which path leads to which method."""
        routes = [web.get("/{token}", self.help), web.get("/{token}/", self.help)]
        for path in (r"/{token}/{chair:[0-9]{1,9}}", "/{token}"):
            routes += [
                web.get(f"{path}/next", self.next),
                web.get(f"{path}/again", self.again),
                web.post(f"{path}/say", self.say),
                web.post(f"{path}/call", self.call),
                web.post(f"{path}/call/{{tool}}", self.call),
            ]
        return routes

    @web.middleware
    async def admitted(self, request: web.Request, handler: Any) -> web.StreamResponse:
        """Refuse requests that a web page makes a browser send, or without the token."""
        # A page's request names it, comes from another site, or has the page's host name.
        host = request.host.rpartition(":")[0] or request.host
        own = f"http://{request.host}"
        same = request.headers.get("Origin", own) == own
        site = request.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin")
        if host not in (HOST, "localhost") or not same or not site:
            raise Refused("This port answers programs on this machine, not web pages.", 403)
        given = request.path.split("/", 2)[1]
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            raise Refused("The address lacks its token: use the one that `deskbench sit` printed.", 403)
        return await handler(request)

    async def help(self, request: web.Request) -> web.Response:
        """Return the instructions."""
        base = f"http://{request.host}/{self.token}"
        own = OWN_HELP[self.chairs.side].format(base=base, calls=CALLS_PER_TURN, hard_calls=CALLS_OF_HARD_CASES)
        return web.Response(text=HELP.format(base=base, count=self.chairs.count, wait=WAIT_S, own=own))

    async def next(self, request: web.Request) -> web.Response:
        """Return the news."""
        return self._told(request, await self.chairs.news(self._chair(request), _wait_s(request)))

    async def again(self, request: web.Request) -> web.Response:
        """Return the whole conversation."""
        return self._told(request, self.chairs.again(self._chair(request)))

    async def say(self, request: web.Request) -> web.Response:
        """Send a message: the plain body, or JSON with ``text``, ``acts`` and ``end``."""
        number, body = self._chair(request), await _body(request)
        message: Any = {"text": body}
        if request.content_type == "application/json":
            message = _json(body)
        known = isinstance(message, dict) and not message.keys() - {"text", "acts", "end"}
        if not known or not isinstance(message.get("text"), str):
            raise Refused('A message in JSON is written {"text": "..."}; a customer may add "acts" and "end".')
        acts, end = message.get("acts", []), message.get("end", False)
        if not isinstance(acts, list) or not isinstance(end, bool):
            raise Refused('acts is a list such as [{"kind": "attached", "what": "photo"}], end is true or false.')
        message["text"] = message["text"].strip()
        if not message["text"]:
            raise Refused("The message is empty: send its words as the body.")
        if self.chairs.side == "agent" and message.keys() - {"text"}:
            raise Refused('A message of the desk has nothing but its words: {"text": "..."}.')
        self.chairs.say(number, **message)
        return await self.next(request)

    async def call(self, request: web.Request) -> web.Response:
        """Call the tool in the path, or all tools in a list."""
        number = self._chair(request)
        if self.chairs.side != "agent":
            raise Refused("The customer has no tools: POST .../say sends a message.", 404)
        body, tool = await _body(request), request.match_info.get("tool")
        calls = _json(body) if tool is None else [{"name": tool, "arguments": _json(body or "{}")}]
        if isinstance(calls, dict):
            calls = calls.get("calls", [calls])
        if not isinstance(calls, list) or not calls or not all(map(_is_call, calls)):
            raise Refused('Calls are written [{"name": "get_order", "arguments": {"order_id": "..."}}].')
        given = [(call["name"], call.get("arguments", {})) for call in calls]
        self.chairs.call(number, given)
        return await self.next(request)

    def _chair(self, request: web.Request) -> int:
        only_one = self.chairs.count == 1
        number = int(request.match_info.get("chair", "1" if only_one else "0"))
        if not 1 <= number <= self.chairs.count:
            mend = f"write /1/next, where the chairs are 1 to {self.chairs.count}."
            raise Refused(f"There is no such chair: {mend}", 404)
        _wait_s(request)  # refuses before anything is sent
        return number

    def _told(self, request: web.Request, items: list[Item]) -> web.Response:
        number = self._chair(request)
        your_turn = self.chairs.my_turn(number)
        idle = not items and self.chairs.may_stop(number)
        if "application/json" in request.headers.get("Accept", ""):
            reply = {"items": items, "your_turn": your_turn, "only_others_play": idle}
            return web.json_response(reply, dumps=lambda value: orjson.dumps(value).decode())
        now = ""
        if idle:
            now = OTHERS_PLAY
        elif not items:
            now = ITS_TURN if your_turn else NOTHING_NEW
        elif items[-1]["kind"] == "over":
            now = "GET .../next begins the next conversation.\n"
        return web.Response(text=f"{as_text(items, self.chairs.side)}\n{now}".lstrip())


def _wait_s(request: web.Request) -> float:
    try:
        asked_s = float(request.query.get("wait", WAIT_S))
    except ValueError:
        raise Refused("wait is a number of seconds, as in /1/next?wait=5.") from None
    return min(max(asked_s, 0.0), LONGEST_WAIT_S) if asked_s == asked_s else WAIT_S


def _is_call(call: Any) -> bool:
    if not isinstance(call, dict) or call.keys() - {"name", "arguments"}:
        return False
    arguments = call.get("arguments", {})
    return isinstance(call.get("name"), str) and isinstance(arguments, dict | str)


async def _body(request: web.Request) -> str:
    try:
        return (await request.read()).decode()
    except web.HTTPException:
        raise
    except Exception:  # each way to send a body has its own errors
        raise Refused("The body is not UTF-8 text, or its encoding is broken.") from None


def _json(body: str) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Refused(f"The body is not JSON ({error}).") from None


@web.middleware
async def _answered(request: web.Request, handler: Any) -> web.StreamResponse:
    """Return a refusal as one line of text; no browser may interpret an answer."""
    try:
        response = await handler(request)
    except Refused as error:
        response = web.Response(text=f"{error}\n", status=error.status)
    except NotYourTurn:
        mend = "GET .../next shows what is new, and begins the next conversation."
        response = web.Response(text=f"Nothing waits for an answer of yours: {mend}\n", status=409)
    except web.HTTPException as error:
        response = web.Response(text=f"{error.reason}: GET / says what there is.\n", status=error.status)
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cache-Control"] = "no-store"
    return response
