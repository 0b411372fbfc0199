"""Words that mean the opposite of each other."""

from services.verification.words import stem

# Both ends in every form that is not a stem of another; a stem cannot tell "higher" from "high".
_PAIRS = """
    increase/decrease rose/fell rise/fall higher/lower high/low more/less most/least more/fewer
    first/last early/late earlier/later largest/smallest large/small larger/smaller greater/smaller
    best/worst better/worse good/bad positive/negative won/lost win/lose male/female north/south
    east/west northern/southern eastern/western left/right include/exclude new/old young/old
    younger/older public/private always/never begin/end began/ended start/finish start/stop
    success/failure succeed/fail support/oppose allow/prevent allow/prohibit accept/reject
    strong/weak stronger/weaker major/minor many/few long/short longer/shorter born/died
    father/mother brother/sister son/daughter husband/wife buy/sell bought/sold above/below
    over/under inside/outside maximum/minimum improve/worsen gain/loss profit/loss easy/difficult
    safe/dangerous common/rare likely/unlikely love/hate rich/poor open/closed internal/external
    domestic/foreign direct/indirect mandatory/voluntary mandatory/optional
    before/after raise/cut raise/reduce grow/shrink grew/shrank growth/decline increase/decline
    increase/reduce expand/contract strengthen/weaken add/remove arrive/leave agree/disagree
"""


def _read(pairs: str) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for one, other in (pair.split("/") for pair in pairs.split()):
        found.setdefault(stem(one), set()).add(stem(other))
        found.setdefault(stem(other), set()).add(stem(one))
    return {word: frozenset(others) for word, others in found.items()}


OPPOSITES = _read(_PAIRS)
