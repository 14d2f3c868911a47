"""What lint has to say about a field of a policy."""

from dataclasses import dataclass

from overrides.errors import Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A warning about a field of a policy."""

    origin: Origin
    field: str
    message: str
    hint: str = ""
