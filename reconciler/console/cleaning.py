"""The cleaning of text that people and programs are shown, by the form it is shown in.

Names, values and messages come from repositories and clusters of others. On a terminal, a control character moves the
cursor or hides a line, and a mark of writing direction shows a name in another order than it has. In the log of a CI
job, a line that begins with ``::`` is a command to the runner. An address may carry the password of the one it was
made for. Nothing of that reaches a reader: every writer sends its text through one of these functions.
"""

import re

from render.expressions import lazy_expression

_BREAKS = {ord(character): " " for character in "\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"}
_HIDDEN = "***"
_PASSWORD = lazy_expression(r"(?<=https://)[^/@\s]+(?=@)|(?<=://)[^/@\s:]*:[^/@\s]+(?=@)")
_QUERY = lazy_expression(
    r"(?<=[?&])((?:access_|private_|auth_)?token|password|secret|key|sig(?:nature)?)=[^&\s'\"#]+", re.IGNORECASE
)
# A runner takes ::name ...:: at the start of a line, whatever spaces are before it, and ##[name] anywhere in one.
_COMMAND = lazy_expression(r"(?m)^([^\S\n]*):(?=:)|#(?=#\[)")


# Controls, marks of direction, line separators and invisible characters. Tabs and line ends are left.
_UNSAFE = lazy_expression(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\ufeff\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\ud800-\udfff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def _escape_sequence(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escape_sequence(code: int) -> str:
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def with_visible_control_characters(text: str) -> str:
    r"""Return text whose control characters and marks of direction are written out; lines and tabs stay.

    >>> with_visible_control_characters("a\x1b[2Kb\u202ec")
    'a\\x1b[2Kb\\u202ec'
    """
    return _UNSAFE.sub(lambda match: _escape_sequence(ord(match[0])), text)


def without_passwords(text: str) -> str:
    """Return text without the passwords and tokens of the addresses in it.

    >>> without_passwords("https://me:s3cret@example.com/x?token=abc&y=1")
    'https://***@example.com/x?token=***&y=1'
    """
    return _QUERY.sub(rf"\1={_HIDDEN}", _PASSWORD.sub(_HIDDEN, text))


def safe_for_terminal(text: str) -> str:
    r"""Return text for a terminal or the log of a CI job: all of it visible, no password, no command to a runner.

    >>> safe_for_terminal("  ::error::no\n##[group]x")
    '  \\x3a:error::no\n\\x23#[group]x'
    """
    return _COMMAND.sub(_escaped_runner_command, without_passwords(with_visible_control_characters(text)))


def _escaped_runner_command(match: re.Match[str]) -> str:
    return f"{match[1]}\\x3a" if match[1] is not None else "\\x23"


def on_one_line(text: str) -> str:
    """Return text with every kind of line break as a space."""
    return text.translate(_BREAKS)


def json_safe_for_terminal(text: str) -> str:
    r"""Return JSON that means the same, in which no character is one that a terminal obeys.

    >>> json_safe_for_terminal('{"a": "\u202e"}')
    '{"a": "\\u202e"}'
    """
    return _UNSAFE.sub(lambda match: _json_escape_sequence(ord(match[0])), text)
