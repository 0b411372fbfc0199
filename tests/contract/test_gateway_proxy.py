"""The gateway behind an nginx that buffers what it passes on, as it does by default."""

import asyncio
import json
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.gateway_parts import gateway

# As root it installs there, where no user's PATH leads.
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
# All as by default: it buffers, and asks in HTTP/1.0, where nothing but the end ends a reply.
CONF = """
pid nginx.pid;
error_log error.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  server {{
    listen unix:{socket};
    location / {{
      proxy_pass {url};
    }}
  }}
}}
"""
ASKS = {
    "/grounded_query/stream": {"query": "What must be submitted?"},
    "/v1/ask-stream": {"ask": {"question": "What must be submitted?"}},
}


@contextmanager
def proxied(url):
    """The socket of an nginx in front of that address."""
    # A short path: a socket's has no room for pytest's.
    with tempfile.TemporaryDirectory(prefix="nginx") as directory:
        folder = Path(directory)
        (folder / "nginx.conf").write_text(CONF.format(url=url, socket=folder / "socket"))
        command = [NGINX, "-p", directory, "-c", "nginx.conf", "-e", "error.log"]
        subprocess.run(command, check=True)  # It returns once it listens.
        try:
            yield folder / "socket"
        finally:
            subprocess.run([*command, "-s", "stop"], check=True)


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed; .ci/run installs it")
@pytest.mark.parametrize("path", ASKS)
async def test_each_event_passes_a_proxy_that_buffers_before_the_next_is_there(path):
    body = json.dumps(ASKS[path]).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    async with gateway() as served:
        # After the first two events the answer waits until they have been read.
        served.behaviour.held, served.behaviour.error_after = asyncio.Event(), 2
        with proxied(served.url) as socket:
            reader, writer = await asyncio.open_unix_connection(socket)
            writer.write(head.encode() + body)
            async with asyncio.timeout(30):
                await reader.readuntil(b"event: stage_finished")
                served.behaviour.held.set()
                await reader.readuntil(b"event: answer")
            writer.close()
            await writer.wait_closed()
