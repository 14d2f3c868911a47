"""The syntax Kubernetes demands of names, label keys, label values and JSON pointers, with faults said in words.

Each function returns the fault of a text, or an empty text if there is none. Lengths count bytes, as in Kubernetes.
"""

import re

_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?", re.ASCII)
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_SUBDOMAIN = re.compile(rf"{_LABEL.pattern}(\.{_LABEL.pattern})*", re.ASCII)
_LIMIT = 63
_SUBDOMAIN_LIMIT = 253
_NAME_RULE = "use letters, digits, '-', '_' and '.' only, with a letter or digit at both ends"
_LABEL_RULE = "use lower-case letters, digits and '-' only, with a letter or digit at both ends"


def quoted(text: str) -> str:
    """Return a text in quotes, shortened where it is long.

    >>> quoted("eu"), quoted("x" * 99)
    ("'eu'", "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'")
    """
    return repr(text) if len(text) <= 80 else repr(text[:40] + "...")


def label_key_fault(key: str) -> str:
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
        fault = _name_fault(name, of="the part after the '/'" if slash else "it")
    return f"{quoted(key)} is no label key: {fault}" if fault else ""


def label_value_fault(value: str) -> str:
    """Say what is wrong with a label value; the empty one is fine."""
    fault = _name_fault(value) if value else ""
    return f"{quoted(value)} is no label value: {fault}" if fault else ""


def dns_label_fault(name: str, *, limit: int = _LIMIT) -> str:
    """Say what is wrong with a DNS-1123 label, such as the name of a namespace or a cluster."""
    if _bytes_in(name) > limit:
        return f"{quoted(name)} is longer than {limit} characters"
    return "" if _LABEL.fullmatch(name) else f"{quoted(name)} is no such name: {_LABEL_RULE}"


def subdomain_fault(name: str) -> str:
    """Say what is wrong with a DNS-1123 subdomain, such as the name of most objects."""
    if _bytes_in(name) > _SUBDOMAIN_LIMIT:
        return f"{quoted(name)} is longer than {_SUBDOMAIN_LIMIT} characters"
    if _SUBDOMAIN.fullmatch(name):
        return ""
    return f"{quoted(name)} is no such name: between dots, {_LABEL_RULE}"


def pointer_fault(pointer: str) -> str:
    """Say what is wrong with a JSON pointer; the empty one means the whole document."""
    if not pointer or pointer.startswith("/"):
        return ""
    return f"{quoted(pointer)} is no JSON pointer: it must begin with '/'"


def _bytes_in(name: str) -> int:
    """Return the length that Go sees; an argument that is no UTF-8 has halves of characters."""
    return len(name.encode(errors="replace"))


def _name_fault(name: str, *, of: str = "it") -> str:
    if not name:
        return f"{of} is empty"
    if _bytes_in(name) > _LIMIT:
        return f"{of} is longer than {_LIMIT} characters"
    return "" if _NAME.fullmatch(name) else _NAME_RULE
