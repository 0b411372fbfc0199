"""`python -m benchmarks NAME [--json]`: measures one thing against a stated peer, in one run."""

import argparse
import importlib
import json
import sys

NAMES = (
    *("abstain", "claims", "closeness", "ingest", "learning", "locate", "loop", "mutations"),
    *("page", "pages", "parsers", "quotes", "retrieval", "search", "serve", "stream", "verify"),
)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog="`python -m benchmarks NAME --help` lists the options of one.",
        # After a name, help is that of the one it names.
        add_help=arguments[:1] not in [[name] for name in NAMES],
    )
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options, rest = parser.parse_known_args(arguments)
    figures = importlib.import_module(f"benchmarks.{options.name}").measure(rest)
    print(json.dumps(figures, indent=None if options.json else 2))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
