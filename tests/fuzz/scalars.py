"""Scalars that some reader takes for something else, as text and as strings."""

from random import Random

WORDS = (
    "y", "Y", "n", "N", "yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF",
    "true", "True", "TRUE", "false", "False", "FALSE", "null", "Null", "NULL", "~", "", "yEs", "nULL", "oN",
    ".inf", ".Inf", ".INF", "+.inf", "-.inf", "-.Inf", ".nan", ".NaN", ".NAN", ".Nan", "inf", "nan", "Infinity",
    "<<", "=", "-", "--", "---", "...", ".", "..", "?", ":", "!", "&", "*", "|", ">", "%", "@", "`", "#", ",",
    "0", "00", "007", "08", "0777", "0o17", "0O17", "0x1F", "0X1f", "0xg", "0b11", "0B11", "0b2", "0b-11", "-0b1",
    "1_000", "_1", "1_", "1__0", "+1", "-1", "+-1", "1.0", "1.", ".5", "-.5", "+.5", ".8_4", ".5_", "._5", "1_0.5",
    "1e3", "1E3", "1e+3", "1e-3", "1.5e300", "1e400", "-1e400", "1e", "e1", "1e1_0", ".5e1_0", ".e3", "0.1e-400",
    "1:30", "1:30:45", "12:30:45.5", "190:20:30", "2024-01-01", "2024-1-1", "2001-12-14t21:59:43.10-05:00",
    "2001-12-14 21:59:43.10 -5", "2002-02-30", "9223372036854775807", "9223372036854775808", "18446744073709551615",
    "18446744073709551616", "-9223372036854775808", "-9223372036854775809", "0x7fffffffffffffff",
    "0x8000000000000000", "0xffffffffffffffff", "0x10000000000000000", "1152921504606846976.0", "123456789012345678",
    "1e18", "1e19", "9.2e18", "9007199254740993", "0.1", "3.14159265358979", "-0", "-0.0", "+0", "1.2.3", "1,000",
    "500m", "128Mi", "25%", "10s", "0.5Gi", "1P", "1E", "12e03", "v1", "a: b", "a:b", "a #b", "a#b", "a: ", ":a", "- a",
    "-a", "?a", "? a", "!a", "!!str", "!!int 1", "&a", "*a", "[a]", "{a}", "[", "{", "]", "}", "a]", "a}", "a,b", "'a'",
    '"a"', "'", '"', "it's", 'say "x"', "a\\b", "\\", " a", "a ", "  ", "http://x?y=1", "x?y", "$(A)", "%d", "@a", "`",
)  # fmt: skip
NUMBER_LIKE = "0123456789" * 2 + "__..++--eExXoObB:"
PUNCTUATION = " #:?!&*|>'\"%@`,[]{}=<~-.\\/"
LETTERS = "abcnyNYtTfF"
HARD = "\t\r\n\0\x07\x1b\x7f\x80\x85\x9f\xa0\xad\u200b\u2028\u2029\u202e\ufeff\ufffd\ufffe\uffff"
FOREIGN = "äßéЖ中😀🇩🇪\U0001f468\u200d\U0001f4bb\u0301"


def hazard_text(rng: Random) -> str:
    """Text on one line, of printable ASCII, that may mean anything."""
    kind = rng.random()
    if kind < 0.3:
        return rng.choice(WORDS)
    alphabet = NUMBER_LIKE if kind < 0.7 else NUMBER_LIKE + LETTERS if kind < 0.85 else PUNCTUATION + LETTERS + "012"
    text = "".join(rng.choices(alphabet, k=rng.randrange(1, 9)))
    return rng.choice(WORDS) + text if rng.random() < 0.1 else text


def hazard_string(rng: Random) -> str:
    """Any string that Kubernetes can hold."""
    kind = rng.random()
    if kind < 0.35:
        return hazard_text(rng)
    if kind < 0.5:
        return "".join(rng.choices(HARD + FOREIGN + LETTERS + PUNCTUATION, k=rng.randrange(1, 9)))
    if kind < 0.6:
        return chr(rng.choice((rng.randrange(0xD800), rng.randrange(0xE000, 0x110000))))
    if kind < 0.65:
        return hazard_text(rng) * rng.choice((50, 300, 900))
    return several_lines(rng)


def several_lines(rng: Random) -> str:
    """A string of several lines, some of them blank, indented or hazardous."""
    lines = [
        rng.choice(("", "", " ", "  ", "\t", "    ")) + rng.choice((hazard_text(rng), "word", "")) for _ in range(4)
    ]
    lines = lines[: rng.randrange(1, 5)]
    if rng.random() < 0.1:
        lines.append(rng.choice(HARD + FOREIGN))
    end = rng.choice(("", "\n", "\n", "\n\n", "\n\n\n", " \n", "\n "))
    return rng.choice(("", "", "", "\n", "\n\n")) + "\n".join(lines) + end
