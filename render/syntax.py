"""The syntax Kubernetes demands of names, label keys, label values and JSON pointers, with faults said in words.

Each function returns the fault of a text, or an empty text if there is none. Lengths count bytes, as in Kubernetes.
"""

import re

from .expressions import lazy_expression

_NAME = lazy_expression(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?", re.ASCII)
_LABEL = lazy_expression(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_SUBDOMAIN = lazy_expression(rf"{_LABEL.pattern}(\.{_LABEL.pattern})*", re.ASCII)
_LIMIT = 63
_SUBDOMAIN_LIMIT = 253
_NAME_RULE = "use letters, digits, '-', '_' and '.' only, with a letter or digit at both ends"
_LABEL_RULE = "use lower-case letters, digits and '-' only, with a letter or digit at both ends"


def quoted_text(text: str) -> str:
    """Return a text in quotes, shortened where it is long.

    >>> quoted_text("eu"), quoted_text("x" * 99)
    ("'eu'", "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'")
    """
    return repr(text) if len(text) <= 80 else repr(text[:40] + "...")


def fault_of_label_key(key: str) -> str:
    """Say what is wrong with a label key: a name, or a DNS subdomain, a slash and a name."""
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        fault = "it has more than one '/'"
    elif slash and not prefix:
        fault = "nothing stands before the '/'"
    elif slash and not _SUBDOMAIN.fullmatch(prefix):
        fault = "before the '/' stands no DNS name, such as example.com"
    elif slash and len(prefix) > _SUBDOMAIN_LIMIT:
        fault = f"the part before the '/' is longer than {_SUBDOMAIN_LIMIT} characters"
    else:
        fault = _fault_of_name_part(name, of="the part after the '/'" if slash else "it")
    return f"{quoted_text(key)} is no label key: {fault}" if fault else ""


def fault_of_label_value(value: str) -> str:
    """Say what is wrong with a label value; the empty one is fine."""
    fault = _fault_of_name_part(value) if value else ""
    return f"{quoted_text(value)} is no label value: {fault}" if fault else ""


def fault_of_dns_label(name: str, *, limit: int = _LIMIT) -> str:
    """Say what is wrong with a DNS-1123 label, such as the name of a namespace or a cluster."""
    if _length_in_bytes(name) > limit:
        return f"{quoted_text(name)} is longer than {limit} characters"
    return "" if _LABEL.fullmatch(name) else f"{quoted_text(name)} is no such name: {_LABEL_RULE}"


def fault_of_dns_subdomain(name: str) -> str:
    """Say what is wrong with a DNS-1123 subdomain, such as the name of most objects."""
    if _length_in_bytes(name) > _SUBDOMAIN_LIMIT:
        return f"{quoted_text(name)} is longer than {_SUBDOMAIN_LIMIT} characters"
    if _SUBDOMAIN.fullmatch(name):
        return ""
    return f"{quoted_text(name)} is no such name: between dots, {_LABEL_RULE}"


def fault_of_json_pointer(pointer: str) -> str:
    """Say what is wrong with a JSON pointer; the empty one means the whole document."""
    if not pointer or pointer.startswith("/"):
        return ""
    return f"{quoted_text(pointer)} is no JSON pointer: it must begin with '/'"


def _length_in_bytes(name: str) -> int:
    """Return the length that Go sees; an argument that is no UTF-8 has halves of characters."""
    return len(name.encode(errors="replace"))


def _fault_of_name_part(name: str, *, of: str = "it") -> str:
    if not name:
        return f"{of} is empty"
    if _length_in_bytes(name) > _LIMIT:
        return f"{of} is longer than {_LIMIT} characters"
    return "" if _NAME.fullmatch(name) else _NAME_RULE
