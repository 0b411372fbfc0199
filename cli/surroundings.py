"""What each service is told, and by what: the environment, a file, or `verity up`."""

import importlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cli import system
from services.chassis.settings import SECRETS_DIR, Settings, Unreadable, faults, in_files, variable

SERVICES = ("gateway", "orchestrator", "retrieval", "generation", "verification")


class Origin(StrEnum):
    """Where a setting's value comes from."""

    UP = "verity up"
    ENVIRONMENT = "environment"
    FILE = "file"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Told:
    """One service's settings, as it has them or would have them.

    Attributes:
        settings: All that fit, the others at their defaults; None where the service is not
            installed.
        origins: By variable.
        faults: Variable and reason, of what does not fit.
        missing: The module without which the service is not installed here.
    """

    service: str
    settings: Settings | None = None
    origins: Mapping[str, Origin] | None = None
    faults: tuple[tuple[str, str], ...] = ()
    missing: str = ""

    def get(self, name: str, default: Any = None) -> Any:
        """A setting's value; the default where this service has none of that name."""
        return getattr(self.settings, name, default)


def all_told(data_dir: Path) -> dict[str, Told]:
    """Every service: that of the system running on the directory, else as this shell would."""
    by_up = system.environments(data_dir)
    return {service: told(service, by_up.get(service, {})) for service in SERVICES}


def told(service: str, by_up: Mapping[str, str]) -> Told:
    """One service, started from this shell with what `verity up` adds."""
    try:
        settings_class = importlib.import_module(f"services.{service}.__main__").Settings
    except ModuleNotFoundError as error:
        return Told(service, missing=error.name or "")
    names = {
        variable(name, field.validation_alias): name
        for name, field in settings_class.model_fields.items()
    }
    with _environment(by_up):
        settings, wrong = _read(settings_class)
        return Told(service, settings, _origins(names, by_up), tuple(wrong))


def names_of(settings: Settings) -> dict[str, str]:
    """Variable: field."""
    fields = type(settings).model_fields
    return {variable(name, field.validation_alias): name for name, field in fields.items()}


def _read(settings_class: type[Settings]) -> tuple[Settings, list[tuple[str, str]]]:
    """What fits, and what does not."""
    try:
        return settings_class(), []
    except (ValidationError, Unreadable) as error:
        wrong = faults(error)
    # Without those that are at fault, and without files, which are read all or none, the others can
    # be told; where that is not enough, none.
    with _environment({}, without={name for name, _ in wrong}):
        try:
            return settings_class(), wrong
        except (ValidationError, Unreadable):
            return settings_class.model_construct(), wrong


def _origins(names: Mapping[str, str], by_up: Mapping[str, str]) -> dict[str, Origin]:
    given = {name.upper() for name in os.environ}
    try:
        files: Mapping[str, str] = in_files(os.environ.get(SECRETS_DIR, ""), names)
    except Unreadable:
        files = {}
    found = {}
    for name in names:
        if name in by_up:
            found[name] = Origin.UP
        elif name in given:
            found[name] = Origin.ENVIRONMENT
        else:
            found[name] = Origin.FILE if name in files else Origin.DEFAULT
    return found


@contextmanager
def _environment(more: Mapping[str, str], without: set[str] | None = None) -> Iterator[None]:
    """As settings are read: in a process that has no other thread, as all commands are."""
    before = dict(os.environ)
    os.environ.update(more)
    for name in list(os.environ):
        if without and name.upper() in {*without, SECRETS_DIR}:
            del os.environ[name]
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
