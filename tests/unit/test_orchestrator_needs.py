"""What the orchestrator says of its clock: an hour off is told, a store that is down is not."""

import pytest

from services.chassis.errors import Unavailable
from services.orchestrator.__main__ import needs


class Store:
    def __init__(self, offset):
        self.offset = offset

    async def missing(self):
        return ""

    async def clock_offset(self):
        if self.offset is None:
            raise Unavailable("down")
        return self.offset


@pytest.mark.parametrize(
    ("offset", "reason"),
    [(0.2, ""), (-59.0, ""), (3600.0, "by 3600 s"), (-3600.0, "by 3600 s"), (None, "")],
)
async def test_a_clock_that_is_off_by_an_hour_is_a_dependency_that_is_missing(offset, reason):
    clock = next(one for one in needs(Store(offset), {}) if one.name == "clock")
    found = await clock.missing()
    assert reason in found
    assert bool(found) == bool(reason)
    assert "NTP" in clock.mend
