"""Who plays which conversation, and what becomes of those whose worker died."""

from collections import Counter, deque
from collections.abc import Hashable, Iterable

TRIES = 2
"""How many workers may die with a conversation before it is given up."""

Key = tuple[str, int]


class Deck:
    """The conversations that are to be played, by case id and trial, dealt in order to players that may be lost.

    A worker that dies takes all its conversations with it, and any of them may be why. Each is then a suspect and is
    dealt anew, one at a time to a player: the suspect that loses a second worker is the one to be given up, and the
    others that were lost with it only become suspects.
    """

    def __init__(self, missing: Iterable[Key]):
        self._fresh, self._suspects = deque(missing), deque[Key]()
        self._lost: Counter[Key] = Counter()
        self._held: dict[Hashable, set[Key]] = {}

    @property
    def waiting(self) -> int:
        """How many conversations nobody holds."""
        return len(self._fresh) + len(self._suspects)

    @property
    def dealt(self) -> int:
        """How many conversations are held."""
        return sum(map(len, self._held.values()))

    def held_by(self, player: Hashable) -> set[Key]:
        """The conversations of one player."""
        return self._held.get(player, set())

    def was_lost(self, key: Key) -> bool:
        """Whether a worker died with this conversation."""
        return key in self._lost

    def deal(self, player: Hashable, room: int) -> list[Key]:
        """Give a player up to `room` conversations more."""
        held = self._held.setdefault(player, set())
        dealt: list[Key] = []
        if room > 0 and self._suspects and not any(key in self._lost for key in held):
            dealt.append(self._suspects.popleft())
        while len(dealt) < room and self._fresh:
            dealt.append(self._fresh.popleft())
        held.update(dealt)
        return dealt

    def ended(self, player: Hashable, key: Key) -> None:
        """A conversation has ended and is on disk."""
        self.held_by(player).discard(key)
        self._lost.pop(key, None)

    def left(self, player: Hashable) -> list[Key]:
        """A player is gone; returns the conversations that are given up, the others are dealt again."""
        held = sorted(self._held.pop(player, set()))
        self._lost.update(held)
        given_up = [key for key in held if self._lost[key] >= TRIES]
        self._suspects.extend(key for key in held if self._lost[key] < TRIES)
        return given_up
