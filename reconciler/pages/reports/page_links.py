"""The links of a page in a report: to what the report has, and of the rest the words, with the command that answers it.

A link that leads nowhere is text. Where it asked for another order of a table, a script of reports sorts what is there;
of the other ones the page says at its foot which commands answer what they ask.
"""

import re
import shlex
from collections.abc import Callable
from html import escape, unescape
from urllib.parse import urlsplit

from reconciler.console.cleaning import with_visible_control_characters, without_passwords
from reconciler.pages.links import JSON_SUFFIX
from render.expressions import lazy_expression

from .asked_elsewhere import AskedElsewhere, asked_at_address, is_order_of_table

_TAG = lazy_expression(r"<a\b([^<>]*)>|</a>")
_END_OF_ITEM = "</li>"
_HREF = lazy_expression(r'\shref="([^"]*)"')
_CLASS = lazy_expression(r'\sclass="([^"]*)"')
_FIND = lazy_expression(r'<form class="find" action="([^"]*)".*?</form>', re.DOTALL)
_SIDE = lazy_expression(r'<nav class="side".*?</nav>', re.DOTALL)
_KEY = lazy_expression(r"<dt><kbd>g</kbd> <kbd>([^<>]*)</kbd></dt><dd>[^<>]*</dd>\s*")
_SIDE_KEY = lazy_expression(r'<a\b[^<>]*\sdata-key="([^"]*)"')
_DOCUMENT = lazy_expression(r" · <span class=\"absent document\">[^<>]*</span>")
_MOST_QUESTIONS, _LONGEST_COMMAND = 8, 240

TargetOfAddress = Callable[[str], str]
"""A function that returns what an address of a server is in a report; "" where the report has nothing of it."""


def with_links_of_report(html: str, target: TargetOfAddress) -> str:
    """Return a page whose links lead to what a report has; what a link that leads nowhere asks is said at the foot."""
    asked: dict[str, AskedElsewhere] = {}
    is_open = False

    def tag(found: re.Match[str]) -> str:
        nonlocal is_open
        if found[1] is None:
            end, is_open = ("</span>" if is_open else "</a>"), False
            return end
        link = _HREF.search(found[1])
        address = unescape(link[1]) if link else ""
        reached = target(address) if link and not urlsplit(address).scheme else address
        if link is None or reached:
            return _HREF.sub(f' href="{escape(reached)}"', found[0], count=1) if link else found[0]
        is_open = True
        question = asked_at_address(address)
        if not (is_order_of_table(address) or is_document_address(address)):
            asked.setdefault(question.subject, question)
        return _absent(found[1], address, question)

    html = _FIND.sub(lambda form: _form(form, target), html)
    html = _SIDE.sub(lambda nav: _navigation(nav[0], target), html)
    html = _DOCUMENT.sub("", _TAG.sub(tag, html))
    return _with_keys_of_navigation(html).replace("</main>", f"{_foot(asked)}</main>", 1)


def has_place(html: str, name: str) -> bool:
    """Say whether a page has a place that a link can name."""
    return f' id="{escape(name)}"' in html


def is_document_address(address: str) -> bool:
    """Say whether an address is that of a document of a page."""
    return urlsplit(address).path.endswith(JSON_SUFFIX)


def _absent(attributes: str, address: str, question: AskedElsewhere) -> str:
    """Return the beginning of the text that stands where a link would lead nowhere."""
    if is_document_address(address):
        return '<span class="absent document">'
    if is_order_of_table(address):
        return '<span class="absent order">'
    style = _CLASS.search(attributes)
    styles = " ".join(["absent", *(each for each in (style[1].split() if style else ()) if each != "button")])
    return f'<span class="{styles}" title="not in this report: {_shown_command(question)}">'


def _form(form: re.Match[str], target: TargetOfAddress) -> str:
    """Return the form of the search, which a report with a page of it keeps."""
    reached = target(urlsplit(unescape(form[1])).path)
    kept = re.sub(r'<input type="hidden"[^<>]*>', "", form[0])
    return kept.replace(f'action="{form[1]}"', f'action="{escape(reached)}"', 1) if reached else ""


def _navigation(nav: str, target: TargetOfAddress) -> str:
    """Return the navigation without the views that a report does not have."""
    *items, rest = nav.split(_END_OF_ITEM)
    return "".join([*(_item_of_navigation(item, target) for item in items), rest])


def _item_of_navigation(item: str, target: TargetOfAddress) -> str:
    """Return the text until the end of an item, without the item if its link leads nowhere."""
    before, _, content = item.rpartition("<li>")
    link = _HREF.search(content)
    is_absent = content.startswith("<a") and not (link and target(unescape(link[1])))
    return before.rstrip() if is_absent else f"{item}{_END_OF_ITEM}"


def _with_keys_of_navigation(html: str) -> str:
    """Return a page whose list of keys has only those that lead somewhere."""
    keys = {found[1] for nav in _SIDE.finditer(html) for found in _SIDE_KEY.finditer(nav[0])}
    return _KEY.sub(lambda found: found[0] if found[1] in keys else "", html)


def _shown_command(question: AskedElsewhere) -> str:
    """Return a command as HTML; names of others in it show what they would hide."""
    words = without_passwords(with_visible_control_characters(shlex.join(question.command)))
    return escape(words if len(words) <= _LONGEST_COMMAND else f"{words[: _LONGEST_COMMAND - 1]}\u2026")


def _foot(asked: dict[str, AskedElsewhere]) -> str:
    """Return what a page says of the links that it lacks."""
    if not asked:
        return ""
    questions = list(asked.values())[:_MOST_QUESTIONS]
    words = "; ".join(f"{escape(each.subject)}: <code>{_shown_command(each)}</code>" for each in questions)
    return f'<footer class="same"><p>Not in this report, which stays as it is: {words}</p></footer>\n'
