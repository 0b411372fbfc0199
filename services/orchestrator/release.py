"""What of a draft is said, in order, while it is being verified; what is said once stays said."""

from collections.abc import Iterable, Sequence

from verity.v1 import core_pb2 as core

from services.orchestrator.review import Checked, untold

# What GenerateRequest.kept takes, and so the most that one answer says.
MOST_STATEMENTS = 200


class Release:
    """The way out of one attempt's statements.

    A later statement never changes what becomes of an earlier one, for each is verified alone.
    Where a draft before fell over sources that contradict each other, a draft that is silent about
    it is no way around it: its statements wait for the one that tells of the conflict, and if none
    does, they are not said.

    Args:
        kept: What was said in the attempts before.
        conflicts: What the attempts before found in conflict.
    """

    def __init__(self, kept: Sequence[Checked], conflicts: Iterable[core.Reason]) -> None:
        self.said = list(kept)
        self.failed: list[Checked] = []
        # Verified, whether said, waiting or a repetition.
        self.passed = 0
        self._conflicts = untold(conflicts, (one.verified for one in kept))
        self._waiting: list[Checked] = []

    def offer(self, checked: Checked) -> list[Checked]:
        """What is to be said now that this one is known too."""
        if not checked.passed:
            self.failed.append(checked)
            return []
        self.passed += 1
        if any(_same(checked, other) for other in (*self.said, *self._waiting)):
            return []
        self._waiting.append(checked)
        self._conflicts = untold(self._conflicts, [checked.verified])
        if self._conflicts:
            return []
        now = self._waiting[: MOST_STATEMENTS - len(self.said)]
        self._waiting = []
        self.said += now
        return now


def _same(one: Checked, other: Checked) -> bool:
    return _words(one) == _words(other)


def _words(checked: Checked) -> list[str]:
    return checked.verified.text.casefold().split()
