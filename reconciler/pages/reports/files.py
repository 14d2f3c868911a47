"""A report as files of a folder, which lead to one another by relative links, so that it can lie anywhere."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import partial
from html import escape, unescape
from urllib.parse import quote, urlsplit

from reconciler.pages.templating import static_files
from render.expressions import lazy_expression

from .collecting import LINK, CollectedPages, is_document_address
from .page_keys import PageKey, page_key_of_address

_STATIC = lazy_expression(r'\s(href|src)="[^"]*/static/([a-z.]+)\?v=[0-9a-f]+"')
_POLICY = (
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'self' file:;"
    " script-src 'self' file:; img-src 'self' file: data:; base-uri 'none'; form-action 'none'\">\n"
)
_ABSENT = ' aria-disabled="true" title="not in this report"'
HEAD = '<meta charset="utf-8">\n'


def files_of_report(report: CollectedPages) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a report: paths in its folder, and contents."""
    names = _names_of_pages(report)
    for key, page in report.pages.items():
        name = names[key]
        link = partial(_link_in_file, report=report, names=names, name=name, has_document=bool(page.document))
        html = LINK.sub(link, page.html.replace(HEAD, HEAD + _POLICY, 1))
        html = _STATIC.sub(partial(_static_in_file, name=name), html)
        yield f"{name}.html", html.encode()
        if page.document:
            yield f"{name}.json", page.document
    for file in static_files().values():
        yield f"static/{file.name}", file.content


def _names_of_pages(report: CollectedPages) -> dict[PageKey, str]:
    """Return the path of each page; of two that a file system may take for one, the second gets a number."""
    names: dict[PageKey, str] = {}
    taken: set[str] = set()
    for key in report.pages:
        name = first = key.file(is_first=key == report.first)
        number = 2
        while name.casefold() in taken:
            name, number = f"{first}~{number}", number + 1
        taken.add(name.casefold())
        names[key] = name
    return names


def _link_in_file(
    found: re.Match[str], report: CollectedPages, names: Mapping[PageKey, str], name: str, *, has_document: bool
) -> str:
    address = unescape(found[2])
    if address.startswith("#") or urlsplit(address).scheme:
        return found[0]
    if is_document_address(address):
        target = f"{name}.json" if has_document else ""
    else:
        key = page_key_of_address(address, report.instants)
        key = report.first if key is None and urlsplit(address).path == "/" else key
        target = f"{names[key]}.html" if key is not None and key in names else ""
    if not target:
        return found[1] + _ABSENT
    fragment = f"#{quote(urlsplit(address).fragment)}" if urlsplit(address).fragment else ""
    return f'{found[1]} href="{escape(_relative(target, name))}{fragment}"'


def _static_in_file(found: re.Match[str], name: str) -> str:
    return f' {found[1]}="{escape(_relative(f"static/{found[2]}", name))}"'


def _relative(target: str, name: str) -> str:
    return quote(posixpath.relpath(target, posixpath.dirname(name) or "."))
