"""A report as one HTML file: each page is a part of it, and the one whose address is asked for is shown.

No script is needed for that: a style shows the part that the fragment of the address names, and the first part where
it names none. Style and script stand in the file, and no other ones are allowed there.
"""

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import partial
from urllib.parse import unquote, urlsplit

from reconciler.pages.templating import static_files
from render.expressions import lazy_expression

from .collecting import CollectedPages
from .files import HEAD, REPORT_SCRIPT
from .page_keys import PageKey
from .page_links import has_place, is_document_address, with_links_of_report

_MAIN = lazy_expression(r'<main id="main"[^>]*>(.*?)</main>', re.DOTALL)
_FILES = lazy_expression(r'<link rel="(?:stylesheet|icon)"[^>]*>\n?|<script src="[^"]*" defer></script>\n?')
_PLACE = lazy_expression(r'(<[a-z][^<>]*?\s(?:id|for|aria-labelledby|list)=)"([^"]*)"')
_CURRENT = ' aria-current="page"'
_SHOWN = """
.part { display: none; }
.part.first, .part:target, .part:has(:target) { display: block; }
.part:target ~ .part.first, .part:has(:target) ~ .part.first { display: none; }
"""


def report_in_one_file(report: CollectedPages) -> bytes:
    """Return the file; the first page stands last in it, so that a style can hide it where another one is shown."""
    names = {key: f"p{number}" for number, key in enumerate(report.pages)}
    first = report.pages[report.first].html
    keys = [*(key for key in report.pages if key != report.first), report.first]
    parts = "".join(_part(report, names, key) for key in keys)
    frame = with_links_of_report(
        first.replace(_CURRENT, ""), partial(_target_in_file, report=report, names=names, name="")
    )
    style = static_files()["style.css"].content.decode() + _SHOWN
    script = "\n".join(static_files()[name].content.decode() for name in ("script.js", REPORT_SCRIPT))
    icon = f"data:image/svg+xml;base64,{base64.b64encode(static_files()['icon.svg'].content).decode()}"
    loaded = f'<link rel="icon" type="image/svg+xml" href="{icon}">\n<style>{style}</style>\n'
    frame = _FILES.sub("", frame).replace(HEAD, f"{HEAD}{_policy(style, script)}{loaded}", 1)
    frame = frame.replace("</body>", f"<script>{script}</script>\n</body>", 1)
    before, after = _MAIN.split(frame)[0], _MAIN.split(frame)[2]
    return f'{before}<main id="main" tabindex="-1">\n{parts}</main>{after}'.encode()


def _part(report: CollectedPages, names: Mapping[PageKey, str], key: PageKey) -> str:
    """Return a page as a part of the file, with names of places that no other part has."""
    name = names[key]
    page = with_links_of_report(report.pages[key].html, partial(_target_in_file, report=report, names=names, name=name))
    found = _MAIN.search(page)
    content = _PLACE.sub(lambda place: f'{place[1]}"{name}-{place[2]}"', found[1] if found else "")
    first = " first" if key == report.first else ""
    return f'<div class="part{first}" id="{name}">{content}</div>\n'


def _target_in_file(address: str, report: CollectedPages, names: Mapping[PageKey, str], name: str) -> str:
    """Return the fragment that shows a part of the file, or a place in it; "" where there is none."""
    if address.startswith("#"):
        return f"#{name}-{address[1:]}" if name else address
    key = None if is_document_address(address) else report.key_of_address(address)
    if key is None:
        return ""
    fragment = unquote(urlsplit(address).fragment)
    has = bool(fragment) and has_place(report.pages[key].html, fragment)
    return f"#{names[key]}-{fragment}" if has else f"#{names[key]}"


def _policy(*allowed: str) -> str:
    digests = [f"'sha256-{base64.b64encode(hashlib.sha256(each.encode()).digest()).decode()}'" for each in allowed]
    style, script = digests
    rules = f"default-src 'none'; style-src {style}; script-src {script}; img-src data:; base-uri 'none'"
    return f'<meta http-equiv="Content-Security-Policy" content="{rules}; form-action \'self\' file:">\n'
