"""Writes the digests of the pushed images into the production overlay.

usage: python -m images.pin --prefix registry.example/verity/ [--tag TAG]

Docker knows the digest of an image once it has been pushed or pulled. Without one nothing is
written, and the exit code is 1.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from images.build import BUDGETS, ROOT, version

FILE = ROOT / "k8s/overlays/production/digests/kustomization.yaml"
HEAD = """\
# Which images run, each by its digest: written by `make pin`, from what was pushed. Without a
# registry there are no digests, and images go by their tags.
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
images:
"""


def written(prefix: str, digests: Mapping[str, str]) -> str:
    """The kustomization that names each service's image by its digest."""
    lines = [
        f"  - {{name: verity-{name}, newName: {prefix}verity-{name}, digest: '{digest}'}}\n"
        for name, digest in sorted(digests.items())
    ]
    return HEAD + "".join(lines)


def digest(image: str) -> str:
    """What the registry calls the image; empty when it was never there."""
    done = subprocess.run(
        ["docker", "image", "inspect", image], capture_output=True, text=True, check=False
    )
    if done.returncode:
        return ""
    name = image.rpartition(":")[0]
    found = [one.split("@") for one in json.loads(done.stdout)[0]["RepoDigests"]]
    return next((value for repository, value in found if repository == name), "")


def main(file: Path = FILE) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prefix", required=True)
    parser.add_argument("--tag", default=version())
    options = parser.parse_args()
    digests = {
        name: digest(f"{options.prefix}verity-{name}:{options.tag}") for name in sorted(BUDGETS)
    }
    if missing := [name for name, found in digests.items() if not found]:
        print(f"No digest, push them first: {', '.join(missing)}", file=sys.stderr)
        return 1
    file.write_text(written(options.prefix, digests))
    print(f"{file} names {len(digests)} images by digest")
    return 0


if __name__ == "__main__":
    sys.exit(main())
