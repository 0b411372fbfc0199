"""Whether a statement gives the parties of what it cites each other's roles; English only.

Who does something stands before an active verb and behind the "by" of a passive one, and a verb
such as "borrow" says of its subject what "lend" says of whom it lends to. Where a statement and a
clause it cites share a verb, none who does it in one may have it done to him in the other.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from services.verification.clauses import Clause, clauses
from services.verification.evidence import Code, Reason
from services.verification.phrases import listed
from services.verification.roles import role
from services.verification.source import Cited
from services.verification.words import Word, stem, stems

# A clause with more words is a list, whose roles are not read here.
MAX_WORDS = 60
# Of the cited clauses, this many are looked at.
MAX_CLAUSES = 100

_BE = frozenset(listed("is are was were be been being"))
# Tells a party from the stem of another word.
_ROLE = " (role)"
_AUXILIARY = _BE | frozenset(
    listed("has have had will would shall should must may might can could does do did to not")
)
_PREPOSITIONS = frozenset(
    listed(
        "by to from of with on in for against at about under into over after before upon than"
        " through as within without between among during"
    )
)
_DETERMINERS = frozenset(listed("the a an its their his her this that these those all any"))
_IRREGULAR = {
    form: stem(verb)
    for verb, forms in {
        "lend": "lent",
        "sell": "sold",
        "buy": "bought",
        "pay": "paid",
        "give": "gave given",
        "send": "sent",
        "hold": "held",
        "lead": "led",
        "win": "won",
        "write": "wrote written",
        "take": "took taken",
        "choose": "chose chosen",
        "beat": "beaten",
        "find": "found",
        "tell": "told",
        "teach": "taught",
        "bring": "brought",
        "make": "made",
        "drive": "drove driven",
        "overtake": "overtook overtaken",
        "leave": "left",
        "lease": "let",
        "bind": "bound",
        "seek": "sought",
        "build": "built",
        "see": "saw seen",
        "meet": "met",
        "precede": "preceding",
    }.items()
    for form in forms.split()
}
# Each says of its subject what the other says of somebody else: of whom, by the preposition.
_CONVERSES = {
    stem(verb): (stem(other), preposition)
    for verb, other, preposition in (
        ("borrow", "lend", "from"),
        ("buy", "sell", "from"),
        ("purchase", "sell", "from"),
        ("rent", "lease", "from"),
        ("belong", "own", "to"),
        ("follow", "precede", ""),
        ("inherit", "bequeath", "from"),
    )
}
_RECEIVES = stem("receive")
_GIVING = stems("pay send give deliver transfer grant provide award")
# "A met B" is "B met A".
_MUTUAL = stems(
    "meet merge marry agree compare differ equal contract correlate compete trade negotiate"
    " cooperate collaborate border partner match combine exchange associate relate"
)


@dataclass(slots=True)
class _Roles:
    """Who does what a verb says, and who else is named with it, by stem."""

    agents: set[str] = field(default_factory=set)
    others: set[str] = field(default_factory=set)
    takers: set[str] = field(default_factory=set)
    is_converse: bool = False

    def parted(self) -> tuple[set[str], set[str]]:
        both = self.agents & self.others
        return self.agents - both, self.others - both


def disagreements(statement: str, cited: Sequence[Cited]) -> Iterator[Reason]:
    """The clauses in which two parties have changed places."""
    theirs = [
        (one, clause, _verbs(clause))
        for one in cited
        for clause in clauses(one.text)[:MAX_CLAUSES]
        if len(clause.words) <= MAX_WORDS
    ]
    for ours in clauses(statement):
        if len(ours.words) > MAX_WORDS:
            continue
        verbs = _verbs(ours)
        swapped: dict[str, tuple[Cited, Clause]] = {}
        said: set[str] = set()
        for one, clause, its_verbs in theirs:
            for verb, mine, other in _shared(verbs, its_verbs):
                if _differ(mine, other):
                    swapped.setdefault(verb, (one, clause))
                elif mine.roles().agents & other.roles().agents:
                    said.add(verb)  # The source says this too, whatever else it says.
        if left := swapped.keys() - said:
            yield _reason(ours, *swapped[min(left)])


def _reason(ours: Clause, cited: Cited, theirs: Clause) -> Reason:
    return Reason(
        Code.ENTITY_MISMATCH,
        "Statement and source give the parties each other's roles.",
        contradicts=True,
        statement_span=ours.span,
        passage_id=cited.source.passage.id,
        passage_span=cited.in_source(theirs.span),
    )


_Verbs = Mapping[str, "_Frame"]


def _shared(mine: _Verbs, other: _Verbs) -> Iterator[tuple[str, "_Frame", "_Frame"]]:
    """What stands around each verb that two clauses share, in one and in the other."""
    for verb, frame in mine.items():
        if verb in other and verb not in _MUTUAL:
            yield verb, frame, other[verb]
        elif verb == _RECEIVES:
            for given in _GIVING & other.keys():
                yield given, _converse(frame, "from"), other[given]
        elif verb in _GIVING and _RECEIVES in other:
            yield verb, frame, _converse(other[_RECEIVES], "from")


def _differ(ours: "_Frame", theirs: "_Frame") -> bool:
    if ours.compared != theirs.compared:
        return False  # "faster than" against "slower than".
    mine, other = ours.roles(), theirs.roles()
    my_agents, my_others = mine.parted()
    agents, others = other.parted()
    if my_agents & others and agents & my_others:
        return True
    # The bank bought, or sold; and one party does what another did.
    if mine.is_converse != other.is_converse and not (my_agents and agents):
        return bool(my_agents & other.takers or agents & mine.takers)
    instead = {name for name in my_agents & others if name.endswith(_ROLE)}
    missed = {name for name in agents if name.endswith(_ROLE)}
    return bool(instead and missed) and not agents & (my_agents | my_others)


@dataclass(slots=True)
class _Frame:
    """The words of a clause around one of its verbs, by what they stand behind."""

    before: set[str]
    behind: dict[str, set[str]]
    is_passive: bool
    compared: str = ""
    from_whom: str | None = None

    def roles(self) -> _Roles:
        rest = {name: words for name, words in self.behind.items() if name != "by"}
        if self.is_passive:
            agents, subject = self.behind.get("by", set()), self.before
        else:
            agents, subject = self.before, set()
            rest = self.behind
        others = subject.union(*rest.values())
        if self.from_whom is None:
            return _Roles(set(agents), set(others))
        # "A borrowed from B": B is who lends, and A to whom.
        givers = self.behind.get(self.from_whom, set())
        takers = subject if self.is_passive and self.from_whom == "" else set(agents)
        left = set().union(*(words for name, words in rest.items() if name != self.from_whom))
        return _Roles(set(givers), left | takers | (subject - takers), takers, is_converse=True)


def _converse(frame: _Frame, preposition: str) -> _Frame:
    return _Frame(frame.before, frame.behind, frame.is_passive, frame.compared, preposition)


def _verbs(clause: Clause) -> dict[str, _Frame]:
    """What stands around each word of a clause that may be its verb, by stem."""
    found: dict[str, _Frame] = {}
    words = clause.words
    for at, word in enumerate(words):
        if not word.is_content or not _may_be_verb(words, at):
            continue
        frame = _frame(words, at)
        verb = _IRREGULAR.get(word.text.lower(), word.stem)
        if verb in _CONVERSES:
            verb, preposition = _CONVERSES[verb]
            frame = _converse(frame, preposition)
        found.setdefault(verb, frame)
    return found


def _frame(words: Sequence[Word], at: int) -> _Frame:
    behind: dict[str, set[str]] = {"": set()}
    place, compared, previous = "", "", words[at].stem
    for word in words[at + 1 :]:
        lowered = word.text.lower()
        if lowered in _PREPOSITIONS:
            place = lowered
            compared = previous if lowered == "than" else compared
        elif word.is_content:
            behind.setdefault(place, set()).add(_party(word))
        previous = word.stem
    follows_by = at + 1 < len(words) and words[at + 1].text.lower() == "by"
    is_passive = follows_by or _is_passive(words, at)
    return _Frame(_subject(words[:at]), behind, is_passive, compared)


def _subject(before: Sequence[Word]) -> set[str]:
    """The content words in front of a verb, but for those in "for each client" and the like."""
    found: set[str] = set()
    place: list[Word] | None = None
    for word in before:
        lowered = word.text.lower()
        if lowered in _PREPOSITIONS:
            place = []
        elif place and lowered in _DETERMINERS:
            place = None
        elif word.is_content and place is None:
            found.add(_party(word))
        elif word.is_content and place is not None:
            place.append(word)
    return found


def _party(word: Word) -> str:
    name = role(word)
    return f"{name}{_ROLE}" if name else word.stem


def _is_passive(words: Sequence[Word], at: int) -> bool:
    if words[at].text.lower().endswith("ing"):
        return False
    before = at - 1
    while before >= 0 and (_bare(words[before]) == "not" or _bare(words[before]).endswith("ly")):
        before -= 1
    return before >= 0 and _bare(words[before]) in _BE


def _bare(word: Word) -> str:
    """A word in small letters, and "is" for "isn't"."""
    return re.sub("n['’]t$", "", word.text.lower())  # noqa: RUF001 - a typographic apostrophe


def _may_be_verb(words: Sequence[Word], at: int) -> bool:
    text = words[at].text.lower()
    if text in _IRREGULAR or text.endswith(("ed", "s", "en", "ing")):
        return True
    before = _bare(words[at - 1]) if at else ""
    after = words[at + 1].text.lower() if at + 1 < len(words) else ""
    return before in _AUXILIARY or after in {"of", "than", "by"}
