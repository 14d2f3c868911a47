"""A report as files of a folder, which lead to one another by relative links, so that it can lie anywhere."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import partial
from html import escape
from urllib.parse import quote, urlsplit

from reconciler.pages.templating import static_files
from render.expressions import lazy_expression

from .collecting import CollectedPages
from .page_keys import PageKey
from .page_links import has_place, is_document_address, with_links_of_report

_STATIC = lazy_expression(r'\s(href|src)="[^"]*/static/([a-z.]+)\?v=[0-9a-f]+"')
_POLICY = (
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'self' file:;"
    " script-src 'self' file:; img-src 'self' file: data:; base-uri 'none'; form-action 'self' file:\">\n"
)
HEAD = '<meta charset="utf-8">\n'
REPORT_SCRIPT = "report.js"


def files_of_report(report: CollectedPages) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a report: paths in its folder, and contents."""
    names = _names_of_pages(report)
    for key, page in report.pages.items():
        name = names[key]
        document = f"{name}.json" if page.document else ""
        target = partial(_target_in_folder, report=report, names=names, name=name, document=document)
        html = with_links_of_report(page.html.replace(HEAD, HEAD + _POLICY, 1), target)
        html = _STATIC.sub(partial(_static_in_file, name=name), html).replace("</head>", _script_of_reports(name), 1)
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


def _target_in_folder(
    address: str, report: CollectedPages, names: Mapping[PageKey, str], name: str, document: str
) -> str:
    """Return the relative address of a file; "" where there is none."""
    if address.startswith("#"):
        return address
    if is_document_address(address):
        return _relative(document, name) if document else ""
    key = report.key_of_address(address)
    if key is None:
        return ""
    fragment = urlsplit(address).fragment
    place = f"#{quote(fragment)}" if fragment and has_place(report.pages[key].html, fragment) else ""
    return _relative(f"{names[key]}.html", name) + place


def _script_of_reports(name: str) -> str:
    return f'<script src="{escape(_relative(f"static/{REPORT_SCRIPT}", name))}" defer></script>\n</head>'


def _static_in_file(found: re.Match[str], name: str) -> str:
    return f' {found[1]}="{escape(_relative(f"static/{found[2]}", name))}"'


def _relative(target: str, name: str) -> str:
    return quote(posixpath.relpath(target, posixpath.dirname(name) or "."))
