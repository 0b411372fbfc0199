"""A model's endpoint: where it is, how it is called, and how long it may take."""

from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit, urlunsplit

_OPENAI = "https://api.openai.com/v1"
_BYTES_PER_TOKEN = 1024
_LEAST_BYTES = 8 * 2**20


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model and how it is called.

    Attributes:
        model: The model's name at the endpoint.
        base_url: As with the OpenAI SDK; empty means OpenAI, and a bare host gets a /v1. With an
            `api-version` in its query it is a deployment of Azure OpenAI.
        api_key: Empty for endpoints that ask for none.
        connect_seconds: To reach it.
        first_token_seconds: From the request to the first word of a stream.
        token_seconds: From one word of a stream to the next.
        total_seconds: From the request to the whole reply.
        max_output_tokens: Where the model must stop.
    """

    model: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    connect_seconds: float = 5.0
    first_token_seconds: float = 60.0
    token_seconds: float = 20.0
    total_seconds: float = 90.0
    max_output_tokens: int = 4096

    @property
    def url(self) -> str:
        """The address to call: OpenAI's when none is given, and with /v1 when it has no path."""
        if not self.base_url:
            return _OPENAI
        parts = urlsplit(self.base_url)
        path = "/v1" if parts.path in {"", "/"} else parts.path.removesuffix("/chat/completions")
        return urlunsplit(parts._replace(path=path, query="", fragment=""))

    @property
    def query(self) -> dict[str, str]:
        """What every request has in its query."""
        return dict(parse_qsl(urlsplit(self.base_url).query))

    @property
    def is_azure(self) -> bool:
        """Whether it is a deployment of Azure OpenAI, which has a header of its own for keys."""
        return "api-version" in self.query

    @property
    def is_openai(self) -> bool:
        """Whether it is OpenAI's own service, which wants the newer name of the token limit."""
        return self.is_azure or urlsplit(self.url).hostname == urlsplit(_OPENAI).hostname

    @property
    def most_bytes(self) -> int:
        """What one reply may weigh, with all that comes around its words."""
        return max(_LEAST_BYTES, self.max_output_tokens * _BYTES_PER_TOKEN)
