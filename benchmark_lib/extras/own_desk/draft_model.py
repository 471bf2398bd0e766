"""Ask a language model about documents and cases; no answer is bought twice."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from ...endpoint import Endpoint, EndpointError
from ...endpoint.structured import Unreadable, ask_for, read_object, without_words
from ...errors import BadInput
from ...experiment.recorder import model_at
from ...records import content_hash
from ...scoring.written import cost_in_words
from .desk_file import BASE

Form = TypeVar("Form", bound=BaseModel)


class Buyer:
    """Asks one model, and keeps each answer in a file together with the hash of its request."""

    def __init__(self, model: str, base_url: str | None, file: Path):
        self.endpoint, self.file = Endpoint(model, base_url), file
        self.model = model_at(self.endpoint, priced=False)
        lines = file.read_bytes().splitlines() if file.exists() else []
        self.kept: dict[str, Any] = {one["request"]: one for one in map(orjson.loads, lines)}
        self.costs: list[float | None] = []

    @property
    def cost(self) -> str:
        """Return the cost of this session's calls, in words."""
        return cost_in_words(sum(cost or 0 for cost in self.costs), len(self.costs), self.costs.count(None))

    def ask(self, prompt: str, texts: list[str], form: type[Form]) -> list[Form | Unreadable]:
        """Return the answer to each text, or why it is unusable.

        After all texts, raise the provider's first fault, or `BadInput` if no call can succeed.
        """
        system = {"role": "system", "content": (BASE / prompt).read_text("utf-8")}

        async def answer_to(text: str) -> Any:
            messages = [system, {"role": "user", "content": text}]

            def read(reply: str, last: bool) -> Form:
                try:
                    return form.model_validate(read_object(without_words(reply, messages)))
                except ValidationError as error:
                    raise Unreadable(f"{error.errors()[0]['loc']}: {error.errors()[0]['msg']}") from None

            try:
                return await ask_for(self._complete, messages, read, lambda answer: None)
            except (Unreadable, EndpointError) as error:
                return error

        async def all_of_them() -> list[Any]:
            async with self.endpoint:
                return await asyncio.gather(*map(answer_to, texts))

        answers = asyncio.run(all_of_them())
        for fault in (answer for answer in answers if isinstance(answer, EndpointError)):
            raise BadInput(str(fault)) if fault.fatal else fault
        return answers

    async def _complete(self, messages: list[dict[str, Any]]) -> Any:
        request = content_hash(orjson.dumps([self.endpoint.model, self.endpoint.base_url, messages]))
        if request not in self.kept:
            answer = await self.endpoint.complete(messages)
            self.costs.append(self.model.price(answer.usage))
            self.kept[request] = {"request": request, "text": answer.text, "finish_reason": answer.finish_reason}
            with self.file.open("ab") as file:
                file.write(orjson.dumps(self.kept[request]) + b"\n")
        return SimpleNamespace(**self.kept[request])
