"""A script: which reply is given to which request."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from cli.errors import USAGE, CliError
from cli.scripted_model.profiles import PROFILES
from cli.scripted_model.replies import BEHAVIOURS
from cli.scripted_model.shown import Shown

_CONDITIONS = frozenset(
    ("question", "prompt", "sources", "attempt", "objections", "kind", "mode", "streamed")
)
_TOP = frozenset(("profile", "model", "tokens_per_second", "reports_usage", "rules", "default"))


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What is done with a request: its name, and what it needs to know."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rule:
    """For requests that are as `when` says: the reply to the first attempt, the second, and on."""

    when: Mapping[str, Any]
    then: Sequence[Behaviour]

    def behaviour(
        self, shown: Shown, attempt: int, mode: str, *, streamed: bool
    ) -> Behaviour | None:
        """The reply to this attempt, the last one for all that follow; None: it is not for it."""
        when = self.when
        fits = (
            _holds(when.get("question"), shown.question)
            and _holds(when.get("prompt"), shown.text)
            and _holds(when.get("sources"), "\n".join(source.text for source in shown.sources))
            and when.get("attempt", attempt) == attempt
            and _objected(when.get("objections"), shown)
            and when.get("kind", "other" if "prompt" in when else "draft") in {shown.kind, "any"}
            and when.get("mode", mode) == mode
            and when.get("streamed", streamed) == streamed
        )
        return self.then[min(attempt, len(self.then)) - 1] if fits else None


@dataclass(frozen=True, slots=True)
class Script:
    """The rules, tried in their order, and the kind of endpoint that is played."""

    rules: Sequence[Rule] = ()
    default: Behaviour = Behaviour("good")
    profile: str = "openai"
    model: str = "scripted"
    tokens_per_second: float = 0.0
    reports_usage: bool = True

    def behaviour(self, shown: Shown, attempt: int, mode: str, *, streamed: bool) -> Behaviour:
        """What is done with a request."""
        for rule in self.rules:
            if found := rule.behaviour(shown, attempt, mode, streamed=streamed):
                return found
        return self.default if shown.kind == "draft" else Behaviour("good")


def load(path: Path) -> Script:
    """The script in a YAML or JSON file."""
    try:
        text = path.read_text("utf-8")
        value = json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
    except (OSError, UnicodeDecodeError) as error:
        raise _wrong(path, "it cannot be read") from error
    except (ValueError, yaml.YAMLError) as error:
        raise _wrong(path, "it is neither YAML nor JSON") from error
    try:
        return parse(value)
    except ValueError as error:
        raise _wrong(path, str(error)) from error


def parse(value: Any) -> Script:
    """The script that a value is; ValueError says what is wrong with it."""
    given = _mapping(value if value is not None else {}, "the script", _TOP)
    profile = given.get("profile", "openai")
    if profile not in PROFILES:
        raise ValueError(f"profile {profile!r} is none of {', '.join(PROFILES)}")
    rules = given.get("rules", [])
    if not isinstance(rules, list):
        raise ValueError("rules is no list")  # noqa: TRY004 - what is wrong with a file
    return Script(
        [_rule(rule, f"rule {number}") for number, rule in enumerate(rules, 1)],
        _behaviour(given.get("default", "good"), "default"),
        profile,
        str(given.get("model", "scripted")),
        float(given.get("tokens_per_second", 0)),
        bool(given.get("reports_usage", True)),
    )


def _rule(value: Any, where: str) -> Rule:
    given = _mapping(value, where, {"when", "then"})
    when = _mapping(given.get("when", {}), f"{where}'s when", _CONDITIONS)
    for name in ("question", "prompt", "sources"):
        try:
            re.compile(when.get(name, ""))
        except (re.error, TypeError) as error:
            raise ValueError(f"{where}'s {name} is no regular expression") from error
    then = given.get("then", "good")
    steps = then if isinstance(then, list) else [then]
    if not steps:
        raise ValueError(f"{where}'s then is empty")
    return Rule(when, [_behaviour(step, where) for step in steps])


def _behaviour(value: Any, where: str) -> Behaviour:
    options = {"do": value} if isinstance(value, str) else dict(_mapping(value, where, None))
    name = str(options.pop("do", "draft"))
    if name not in BEHAVIOURS:
        raise ValueError(f"{where} does {name!r}, which is none of {', '.join(BEHAVIOURS)}")
    return Behaviour(name, options)


def _mapping(value: Any, where: str, known: frozenset[str] | set[str] | None) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{where} is no mapping")  # noqa: TRY004 - as above
    odd = sorted(set(value) - known) if known is not None else []
    if odd:
        raise ValueError(f"{where} knows no {', '.join(map(str, odd))}")
    return value


def _holds(pattern: str | None, text: str) -> bool:
    return pattern is None or re.search(pattern, text, re.IGNORECASE) is not None


def _objected(wanted: Any, shown: Shown) -> bool:
    match wanted:
        case None:
            return True
        case "none":
            return not shown.objections
        case "any":
            return bool(shown.objections)
        case _:
            return any(wanted in objection.codes for objection in shown.objections)


def _wrong(path: Path, why: str) -> CliError:
    return CliError(
        f"{path} is no script for the scripted model: {why}.",
        hint="docs/models.md describes scripts.",
        exit_code=USAGE,
        code="INVALID_ARGUMENT",
    )
