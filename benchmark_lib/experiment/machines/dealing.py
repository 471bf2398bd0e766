"""Which worker plays which conversation, and what becomes of the conversations of a worker that died."""

from collections import Counter, deque
from collections.abc import Hashable, Iterable

TRIES = 2
"""Workers that may die with a conversation before it is given up."""

Key = tuple[str, int]


class Deck:
    """The conversations to play, by case id and trial, dealt in order to players that may be lost.

    Any conversation of a dead worker may be why it died. Each is then a suspect, and a player gets one suspect at a
    time. A suspect that loses a second worker is given up; the others that were lost with it become suspects.
    """

    def __init__(self, missing: Iterable[Key]):
        self._fresh, self._suspects = deque(missing), deque[Key]()
        self._lost: Counter[Key] = Counter()
        self.hands: dict[Hashable, set[Key]] = {}

    @property
    def waiting(self) -> int:
        """Return how many conversations no player has."""
        return len(self._fresh) + len(self._suspects)

    @property
    def dealt(self) -> int:
        """Return how many conversations players have."""
        return sum(map(len, self.hands.values()))

    def was_lost(self, key: Key) -> bool:
        """Return whether a worker died with this conversation."""
        return key in self._lost

    def deal(self, player: Hashable, room: int) -> list[Key]:
        """Give a player up to `room` conversations more."""
        hand = self.hands.setdefault(player, set())
        dealt: list[Key] = []
        if room > 0 and self._suspects and not any(key in self._lost for key in hand):
            dealt.append(self._suspects.popleft())
        while len(dealt) < room and self._fresh:
            dealt.append(self._fresh.popleft())
        hand.update(dealt)
        return dealt

    def ended(self, player: Hashable, key: Key) -> None:
        """Take a conversation that has ended from its player."""
        self.hands.get(player, set()).discard(key)
        self._lost.pop(key, None)

    def left(self, player: Hashable) -> list[Key]:
        """Take all conversations from a player that is gone, and return those to be given up."""
        hand = sorted(self.hands.pop(player, set()))
        self._lost.update(hand)
        self._suspects.extend(key for key in hand if self._lost[key] < TRIES)
        return [key for key in hand if self._lost[key] >= TRIES]
