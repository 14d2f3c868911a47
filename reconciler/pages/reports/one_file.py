"""A report as one HTML file: each page is a part of it, and the one whose address is asked for is shown.

No script is needed for that: a style shows the part that the fragment of the address names, and the first part where
it names none. Style and script stand in the file, and no other ones are allowed there.
"""

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import partial
from html import unescape
from urllib.parse import urlsplit

from reconciler.pages.templating import static_files
from render.expressions import lazy_expression

from .collecting import LINK, CollectedPages, is_document_address
from .files import HEAD
from .page_keys import PageKey, page_key_of_address

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
    frame = LINK.sub(partial(_link_in_part, report=report, names=names, name=""), first.replace(_CURRENT, ""))
    style = static_files()["style.css"].content.decode() + _SHOWN
    script = static_files()["script.js"].content.decode()
    icon = f"data:image/svg+xml;base64,{base64.b64encode(static_files()['icon.svg'].content).decode()}"
    loaded = f'<link rel="icon" type="image/svg+xml" href="{icon}">\n<style>{style}</style>\n'
    frame = _FILES.sub("", frame).replace(HEAD, f"{HEAD}{_policy(style, script)}{loaded}", 1)
    frame = frame.replace("</body>", f"<script>{script}</script>\n</body>", 1)
    before, after = _MAIN.split(frame)[0], _MAIN.split(frame)[2]
    return f'{before}<main id="main" tabindex="-1">\n{parts}</main>{after}'.encode()


def _part(report: CollectedPages, names: Mapping[PageKey, str], key: PageKey) -> str:
    """Return a page as a part of the file, with names of places that no other part has."""
    name = names[key]
    found = _MAIN.search(report.pages[key].html)
    content = found[1] if found else ""
    content = _PLACE.sub(lambda place: f'{place[1]}"{name}-{place[2]}"', content)
    content = LINK.sub(partial(_link_in_part, report=report, names=names, name=name), content)
    first = " first" if key == report.first else ""
    return f'<div class="part{first}" id="{name}">{content}</div>\n'


def _link_in_part(found: re.Match[str], report: CollectedPages, names: Mapping[PageKey, str], name: str) -> str:
    address = unescape(found[2])
    if address.startswith("#"):
        return f'{found[1]} href="#{name}-{address[1:]}"' if name else found[0]
    if urlsplit(address).scheme:
        return found[0]
    key = None if is_document_address(address) else page_key_of_address(address, report.instants)
    key = report.first if key is None and urlsplit(address).path == "/" else key
    if key is None or key not in names:
        return f'{found[1]} aria-disabled="true" title="not in this report"'
    return f'{found[1]} href="#{names[key]}"'


def _policy(*allowed: str) -> str:
    digests = [f"'sha256-{base64.b64encode(hashlib.sha256(each.encode()).digest()).decode()}'" for each in allowed]
    style, script = digests
    rules = f"default-src 'none'; style-src {style}; script-src {script}; img-src data:; base-uri 'none'"
    return f'<meta http-equiv="Content-Security-Policy" content="{rules}; form-action \'none\'">\n'
