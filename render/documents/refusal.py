"""Why a document is refused while it is built, and the bounds that no document may pass."""

MAX_DEPTH = 200
MAX_ALIASED = 400_000
_LONGEST_QUOTE = 80


class Refusal(ValueError):
    """A document that parses but has no meaning in Kubernetes; its place is that of the event read last."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def quoted(key: str) -> str:
    """Return a key for a message, shortened."""
    return repr(key if len(key) <= _LONGEST_QUOTE else f"{key[:_LONGEST_QUOTE]}...")
