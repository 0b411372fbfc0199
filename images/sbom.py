"""Prints what is installed as a CycloneDX 1.6 bill of materials; runs inside the image.

usage: python images/sbom.py SERVICE
"""

import json
import re
import sys
from importlib import metadata
from typing import Any


def bill(service: str) -> dict[str, Any]:
    """Each distribution that can be imported, by name, version, licence and package URL."""
    components = sorted(map(_component, metadata.distributions()), key=lambda one: one["purl"])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "container",
                "name": f"verity-{service}",
                "version": metadata.version("verity"),
            }
        },
        "components": components,
    }


def _component(one: metadata.Distribution) -> dict[str, Any]:
    name = re.sub(r"[-_.]+", "-", one.metadata["Name"]).lower()
    said = one.metadata.json
    licence = said.get("license_expression") or _short(said.get("license"))
    return {
        "type": "library",
        "name": name,
        "version": one.version,
        "purl": f"pkg:pypi/{name}@{one.version}",
        **({"licenses": [{"license": {"name": licence}}]} if licence else {}),
    }


def _short(text: str | list[str] | None) -> str:
    """A licence's name; some packages put the whole text there."""
    first = str(text or "").strip().partition("\n")[0]
    return first if first != "UNKNOWN" else ""


if __name__ == "__main__":
    json.dump(bill(sys.argv[1]), sys.stdout, indent=1)
