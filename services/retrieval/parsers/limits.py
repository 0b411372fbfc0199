"""How long and how deep a document may be."""

from services.chassis.errors import InvalidInput

# Browsers stop at 512; filings of tags that are never closed have been seen to go further.
_MAX_DEPTH = 4096


def check_depth(depth: int) -> None:
    """Refuse a document whose parts lie in each other without end."""
    if depth > _MAX_DEPTH:
        raise InvalidInput(
            f"The file nests more than {_MAX_DEPTH} levels deep.", reason="TOO_LARGE"
        )


def check_page_count(count: int, max_pages: int) -> None:
    """Refuse a document of more pages than are allowed."""
    if count > max_pages:
        raise InvalidInput(
            f"The file has {count} pages and may have at most {max_pages}; split it.",
            reason="TOO_LARGE",
        )
