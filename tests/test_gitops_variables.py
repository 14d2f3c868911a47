"""Variables as Flux fills them in: every form, what is escaped, and what is refused."""

from typing import NamedTuple

import pytest

from reconciler.gitops.flux.variables import BadSubstitutionError, UnsetVariablesError, substitute_variables

from .tables import each_row

VALUES = {
    "a": "abcdEFGH28ij",
    "A": "ABCDEFGH28IJ",
    "path": "/home/bozo/ideas/thoughts.for.today",
    "abc": "abcABC123ABCabc",
    "file": "bash.string.txt",
    "slashes": "foo/bar/baz",
    "other": "foo1",
    "utf": "äö",
    "number": "3",
    "empty": "",
}
value_of = VALUES.get


class Form(NamedTuple):
    text: str
    want: str


FORMS = [
    Form("abcd", "abcd"),
    Form("$a {a} $", "$a {a} $"),
    Form("x${a}y${empty}z", "xabcdEFGH28ijyz"),
    Form("${#a} ${#utf} ${#empty}", "12 4 0"),
    Form("${a^} ${a^^} ${A,} ${A,,}", "AbcdEFGH28ij ABCDEFGH28IJ aBCDEFGH28IJ abcdefgh28ij"),
    Form("${path:11} ${path:11:5}", "ideas/thoughts.for.today ideas"),
    Form("${a:-2}", "abcdEFGH28ij"),
    Form("${a:50} ${a:10:50} ${a:x}", " ij abcdEFGH28ij"),
    Form("${a:1:-1}", "bcdEFGH28i"),
    Form("${a=xyz} ${none=xyz} ${none:=xyz} ${none:-xyz}", "abcdEFGH28ij xyz xyz xyz"),
    Form("${none=pre${other}-post}", "prefoo1-post"),
    Form("${none:=}${none:-}", ""),
    Form("${none:?x} ${none:+x} ${empty:=x} ${empty=x}", "x x x x"),
    Form("${none=${a^^}}", "ABCDEFGH28IJ"),
    Form("${abc/%abc/XYZ} ${abc/#abc/XYZ}", "abcABC123ABCXYZ XYZABC123ABCabc"),
    Form("${a/#/pre-} ${a/%/-post}", "pre-abcdEFGH28ij abcdEFGH28ij-post"),
    Form("${abc//abc/xyz} ${abc/abc/xyz} ${file/./}", "xyzABC123ABCxyz xyzABC123ABCabc bashstring.txt"),
    Form(r"${slashes/\//-} ${slashes//\//-}", "foo-bar/baz foo-bar-baz"),
    Form("${file#*.} ${file##*.} ${file%.*} ${file%%.*}", "string.txt txt bash.string bash"),
    Form("${path#*/} ${file#x*} ${file#b?s}", "home/bozo/ideas/thoughts.for.today bash.string.txt h.string.txt"),
    Form("${file%%*} ${file#*}|", " ash.string.txt|"),
    Form("$${a} $$$${a} $$ $$a", "${a} $${a} $ $a"),
    Form("${a}$${var$${a}$a${a}", "abcdEFGH28ij${var${a}$aabcdEFGH28ij"),
    Form("$${none=${other}}", "${none=foo1}"),
    Form(r"\\x ${other}", r"\\x foo1"),
]


@each_row("case", FORMS, ids=lambda case: case.text)
def test_a_text_is_filled_in(case: Form) -> None:
    assert substitute_variables(case.text, value_of) == case.want


class Bad(NamedTuple):
    text: str
    said: str


BAD = [
    Bad("${}", "${ is followed by no name of a variable"),
    Bad("x ${", "${ is followed by no name of a variable"),
    Bad("${a", "${a is not closed by a brace"),
    Bad("${a-x}", "${a is not closed by a brace"),
    Bad("${a^^", "a variable is not closed by a brace"),
    Bad("${a b}", "${a is not closed by a brace"),
    Bad("${a:-", "${a:- lacks what follows it"),
    Bad("${a/x}", "${a/ lacks the text to put in"),
    Bad("${a#}", "${a# lacks what follows it"),
    Bad("${x:-" * 30 + "}" * 30, "variables stand in each other too deeply"),
]


@each_row("case", BAD, ids=lambda case: case.text[:20])
def test_what_is_no_variable_is_refused(case: Bad) -> None:
    with pytest.raises(BadSubstitutionError) as refused:
        substitute_variables(case.text, value_of)
    assert str(refused.value) == case.said


UNSET = [
    Bad("rm -rf ${WORKDIR}/* ${a}", "nothing sets ${WORKDIR}"),
    Bad("${x} ${b} ${x}", "nothing sets ${b}, ${x}"),
    *(
        Bad("${x" + rest, "nothing sets ${x}")
        for rest in ("^}", "^^}", ",}", ",,}", ":1}", ":1:2}", "/a/b}", "//a/b}", "/#a/b}", "/%a/b}")
    ),
    *(Bad("${x" + rest, "nothing sets ${x}") for rest in ("#a}", "##a}", "%a}", "%%a}")),
    Bad("${#x}", "nothing sets ${x}"),
    # A default is worked out whether it is needed or not.
    Bad("${a:-${x}}", "nothing sets ${x}"),
    Bad("$${x} ${x}", "nothing sets ${x}"),
]


@each_row("case", UNSET, ids=lambda case: case.text)
def test_a_variable_that_nobody_sets_is_refused_unless_it_has_a_default(case: Bad) -> None:
    with pytest.raises(UnsetVariablesError) as refused:
        substitute_variables(case.text, value_of)
    assert str(refused.value) == case.said


def test_text_that_grows_without_end_is_refused() -> None:
    with pytest.raises(BadSubstitutionError) as refused:
        substitute_variables("${big}" * 40, lambda _: "x" * 1_000_000)
    assert str(refused.value) == "what is filled in has more than 16777216 characters"


def test_a_pattern_of_many_wildcards_takes_no_longer_than_its_length() -> None:
    text = "${v##" + "*a" * 200 + "b}"
    assert substitute_variables(text, lambda _: "a" * 2000) == "a" * 2000


def test_a_value_or_pattern_that_is_too_long_is_not_trimmed() -> None:
    with pytest.raises(BadSubstitutionError) as refused:
        substitute_variables("${v#*a}", lambda _: "a" * 5000)
    assert str(refused.value) == "${v# is for at most 4096 characters"
