"""What a Qdrant server says over HTTP of aliases, collections and snapshots, from memory."""

import hashlib
import json
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class FakeQdrant:
    """Collections are bytes, and so are their snapshots."""

    collections: dict = field(default_factory=dict)
    aliases: dict = field(default_factory=dict)
    snapshots: dict = field(default_factory=dict)
    peers: int = 1
    api_key: str = ""
    refuses_uploads: bool = False
    url: str = ""

    def answer(self, method, path, query, body, content_type):  # noqa: C901, PLR0911, PLR0912 - a table
        collection = re.match(r"/collections/([^/]+)", path)
        name = collection[1] if collection else ""
        match method, path.replace(name, "*", 1) if name else path:
            case "GET", "/":
                return {"version": "1.16.0"}
            case "GET", "/cluster":
                return {"result": {"peers": {str(n): {} for n in range(self.peers)}}}
            case "GET", "/aliases":
                held = self.aliases.items()
                return {"result": {"aliases": [
                    {"alias_name": a, "collection_name": c} for a, c in held
                ]}}  # fmt: skip
            case "GET", "/collections":
                return {"result": {"collections": [{"name": one} for one in self.collections]}}
            case "POST", "/collections/*/snapshots":
                self.snapshots["s.snapshot"] = self.collections[name]
                digest = hashlib.sha256(self.collections[name]).hexdigest()
                return {"result": {"name": "s.snapshot", "checksum": digest}}
            case "GET", "/collections/*/snapshots/s.snapshot":
                return self.snapshots["s.snapshot"]
            case "DELETE", "/collections/*/snapshots/s.snapshot":
                del self.snapshots["s.snapshot"]
                return {"result": True}
            case "POST", "/collections/*/snapshots/upload":
                head = b"Content-Type: " + content_type.encode() + b"\r\n\r\n"
                (part,) = BytesParser().parsebytes(head + body).get_payload()
                held = part.get_payload(decode=True)
                assert f"checksum={hashlib.sha256(held).hexdigest()}" in query
                self.collections[name] = held
                return None if self.refuses_uploads else {"result": True}
            case "DELETE", "/collections/*":
                del self.collections[name]
                return {"result": True}
            case "POST", "/collections/*":
                for action in json.loads(body)["actions"]:
                    if "create_alias" in action:
                        made = action["create_alias"]
                        self.aliases[made["alias_name"]] = made["collection_name"]
                    else:
                        del self.aliases[action["delete_alias"]["alias_name"]]
                return {"result": True}
        return None


@contextmanager
def served(fake):
    """The fake at its `url`."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            path, _, query = self.path.partition("?")
            allowed = self.headers.get("api-key", "") == fake.api_key
            kind = self.headers.get("Content-Type", "")
            reply = fake.answer(self.command, path, query, body, kind) if allowed else None
            content = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
            self.send_response(200 if reply is not None else 400 if allowed else 401)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815 - the library's names

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        fake.url = f"http://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield fake
        finally:
            server.shutdown()
