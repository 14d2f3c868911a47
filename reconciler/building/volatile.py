"""Calls in templates whose answer is another one each time: of chance, of the clock, of a cluster or a network."""

import re
from collections.abc import Collection, Iterator, Mapping

_CHANCE = (
    "randAlphaNum|randAlpha|randNumeric|randAscii|randBytes|randInt|shuffle|uuidv4|genPrivateKey|genCAWithKey|genCA"
    "|genSelfSignedCertWithKey|genSelfSignedCert|genSignedCertWithKey|genSignedCert|htpasswd|bcrypt|encryptAES"
)
_OUTSIDE = "now|lookup|getHostByName"
_SAID = {
    "now": "asks the clock, so that a later render may differ",
    "lookup": "asks a cluster, and a render has none: it finds nothing",
    "getHostByName": "asks the network, and a render has none: it finds nothing",
}
_ACTION = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_COMMENT = re.compile(r"\{\{-?\s*/\*")


def volatile_calls(chart: Mapping[str, bytes], paths: Collection[str], home: str, *, is_random: bool) -> Iterator[str]:
    """Yield the calls in templates of a chart, each with file and line, first those of the templates at these paths.

    ``is_random``: calls of chance and of the clock, which make two renders differ; else those that depend on what is
    outside.
    """
    names = re.compile(rf"(?<![\w.$\"])({f'{_CHANCE}|now' if is_random else _OUTSIDE})(?![\w\"])")
    templates = [path for path in chart if "templates/" in path]
    for path in sorted(templates, key=lambda each: (f"{home}/{each}" not in paths, each)):
        text = chart[path].decode("utf-8", "replace")
        for action in _ACTION.finditer(text):
            if _COMMENT.match(action[0]):
                continue
            for call in names.finditer(action[0]):
                line = text.count("\n", 0, action.start() + call.start()) + 1
                said = _SAID.get(call[1], "makes up a value")
                yield f"{home}/{path}:{line}: {call[1]} {said}"
