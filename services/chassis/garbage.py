"""What the garbage collector of a process that serves looks through, and how often (ADR 28)."""

import gc

# Objects that are made beyond those that go before the collector looks at the new ones.
_NEW_OBJECTS = 10_000


def leave_what_stays() -> None:
    """Keeps what is loaded by now, and stays, from the garbage collector.

    While it looks through everything no call goes on: with 100,000 objects for 50 ms, and the more
    often the more objects are made, as when a document comes in. What goes without its help, which
    is nearly all, still goes at once. To be called once, when the process is ready.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS)
