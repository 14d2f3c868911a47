"""The complaints of tools, as far as they may be shown."""

import re

_LONGEST = 400
_SPACE = re.compile(r"\s+")
_WARNINGS = ("#", "WARNING:", "level=")
_PREFIXES = ("error: ", "Error: ")


def shortened(complaint: str) -> str:
    r"""Return the first line of a complaint that is no warning: further ones quote what was read, which may be secret.

    >>> shortened("# Warning: 'bases' is deprecated.\nError: no such file\nx: y")
    'no such file'
    """
    lines = [line for line in complaint.splitlines() if line.strip() and not line.startswith(_WARNINGS)]
    first = lines[0] if lines else complaint.partition("\n")[0]
    for prefix in _PREFIXES:
        first = first.removeprefix(prefix)
    text = _SPACE.sub(" ", first).strip()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
