"""Addresses of pages: built in one place, every part of them encoded, so that a name cannot lead elsewhere."""

from collections.abc import Mapping
from urllib.parse import quote, urlencode

from msgspec import Struct

JSON_SUFFIX = ".json"


class Links(Struct, frozen=True, kw_only=True):
    """The addresses of views below ``base``, by their ``paths``.

    They are about one ``fleet`` ("": the only one), and about it ``at`` a time ("": now), which goes along.
    """

    paths: Mapping[str, str]
    base: str = ""
    fleet: str = ""
    at: str = ""

    def address_of_view(self, name: str, /, **values: object) -> str:
        """Return the address of a view; values that are no part of its path are asked for behind it.

        A value that is empty is left out, and ``at`` is that of the present page unless another is given.
        """
        return self._address(name, values, suffix="")

    def address_of_json(self, name: str, /, **values: object) -> str:
        """Return the address of the document of a view."""
        return self._address(name, values, suffix=JSON_SUFFIX)

    def address_of_present_page(self, name: str, asked: Mapping[str, str], /, **other: object) -> str:
        """Return the address of the page that is shown, with some of what it asks for replaced."""
        return self.address_of_view(name, **{**asked, **other})

    def address_of_static_file(self, name: str, version: str) -> str:
        """Return the address of a file of ours, which is another one when its content is."""
        return f"{self.base}/static/{quote(name)}?v={quote(version)}"

    def address_of_fleet(self, fleet: str) -> str:
        """Return the address of the first page of a fleet."""
        return f"{self.base}/f/{encoded_part(fleet)}/"

    @property
    def home(self) -> str:
        """The address of the first page."""
        return f"{self.base}/f/{encoded_part(self.fleet)}/" if self.fleet else f"{self.base}/"

    def _address(self, name: str, values: Mapping[str, object], suffix: str) -> str:
        rest = dict(values)
        parts = [
            encoded_part(str(rest.pop(each.strip("{}")))) if "{" in each else each
            for each in self.paths[name].strip("/").split("/")
        ]
        path = self.home + "/".join(parts)
        path += suffix or ("/" if path.endswith(JSON_SUFFIX) else "")
        asked = {key: str(value) for key, value in {"at": self.at, **rest}.items() if value not in ("", None)}
        return f"{path}?{urlencode(asked)}" if asked else path


def encoded_part(part: str) -> str:
    """Return one part of a path, whatever is in it; ``.`` and ``..`` would be taken for folders.

    >>> encoded_part("a/b c"), encoded_part("..")
    ('a%2Fb%20c', '-')
    """
    return "-" if part in {"", ".", ".."} else quote(part, safe="")
