"""`python -m benchmarks NAME [--json]`: measures one thing against a stated peer, in one run."""

import argparse
import importlib
import json
import sys


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = [
        *(
            "abstain",
            "claims",
            "learning",
            "ingest",
            "locate",
            "loop",
            "mutations",
            "pages",
            "parsers",
            "quotes",
        ),
        *("retrieval", "search", "serve", "stream", "verify"),
    ]
    parser.add_argument("name", choices=names)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options, rest = parser.parse_known_args(arguments)
    figures = importlib.import_module(f"benchmarks.{options.name}").measure(rest)
    if options.json:
        print(json.dumps(figures))
    else:
        print(json.dumps(figures, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
