"""`python -m cli.scripted_model FILE [--port N]`: an OpenAI-compatible endpoint plays a script."""

import argparse
import asyncio
import signal
import sys
from pathlib import Path

from cli.errors import CliError
from cli.scripted_model import script
from cli.scripted_model.server import ScriptedModel, note


async def serve(played: script.Script, port: int) -> None:
    """Until SIGTERM or Ctrl-C."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with ScriptedModel(played).listening(port) as model:
        note({"event": "listening", "url": f"{model.url}/v1"})
        await stop.wait()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m cli.scripted_model", description=__doc__)
    parser.add_argument("file", type=Path, help="the script, YAML or JSON")
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    options = parser.parse_args()
    try:
        played = script.load(options.file)
    except CliError as error:
        parser.error(str(error))
    asyncio.run(serve(played, options.port))
    return 0


if __name__ == "__main__":
    sys.exit(main())
