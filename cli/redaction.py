"""What of a setting may be shown: secrets never, not even where they are part of an address."""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import SecretStr

HIDDEN = "**********"
# As in amqp://name:password@host; and a parameter of a query, or a field, that is named like one.
_USER = re.compile(r"://[^/@\s]*@")
_SECRETIVE = r"(?:key|token|secret|password|passwd|pwd|signature|sig|credential|auth|code)"
_PARAMETER = re.compile(rf"(?i)([?&;][^=&;#]*{_SECRETIVE}[^=&;#]*=)[^&;#]+")
# Names that hold a secret whatever their type says. Files are named, not shown.
_NAMED = re.compile(r"(?:^|_)(?:API_KEY|SECRET|PASSWORD|TOKEN)$")


def shown(variable: str, value: Any) -> Any:
    """The value as it may be printed."""
    if isinstance(value, SecretStr):
        return HIDDEN if value.get_secret_value() else ""
    if isinstance(value, Mapping):
        return {str(name): shown(str(name).upper(), one) for name, one in value.items()}
    if isinstance(value, bool | int | float) or value is None:
        return value
    text = str(value)
    if text and _NAMED.search(variable):
        return HIDDEN
    return _PARAMETER.sub(rf"\1{HIDDEN}", _USER.sub(f"://{HIDDEN}@", text))
