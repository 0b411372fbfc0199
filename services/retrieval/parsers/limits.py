"""How long a document may be."""

from services.chassis.errors import InvalidInput


def check_page_count(count: int, max_pages: int) -> None:
    """Refuse a document of more pages than are allowed."""
    if count > max_pages:
        raise InvalidInput(
            f"The file has {count} pages and may have at most {max_pages}; split it.",
            reason="TOO_LARGE",
        )
