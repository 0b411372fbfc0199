"""Who asks over HTTP: by the bearer token, before a byte of the body is read."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from services.chassis import identity
from services.chassis.authentication import Authenticator
from services.chassis.errors import PermissionDenied, Unauthenticated, Unavailable
from services.gateway import edge, problem


class Known:
    """Calls services for those alone who are known; everybody may have the page and its files.

    Args:
        app: What answers.
        authenticator: Says who asks. Of all headers it sees one: whatever else a client sends says
            nothing of who it is.
    """

    def __init__(self, app: ASGIApp, authenticator: Authenticator) -> None:
        self._app, self._authenticator = app, authenticator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not edge.is_api(scope["path"]) or scope["method"] == "OPTIONS":
            await self._app(scope, receive, send)
            return
        token = Headers(scope=scope).get(identity.TOKEN)
        try:
            headers = {} if token is None else {identity.TOKEN: token}
            one = await self._authenticator.caller(headers, None)
        except (Unauthenticated, PermissionDenied, Unavailable) as error:
            await problem.refused(error).response()(scope, receive, send)
            return
        with identity.calling(one):
            await self._app(scope, receive, send)
