"""A file of our branches as a value: a struct states the path, the fields and the version, and reads and writes it.

1. A file is the one YAML object of its content. It has the fields of its struct and no value of another type.
2. A file of the status branch has a ``version``, that of its struct. One without is of version 0, which had none: all
   else in it is as in version 1. One of a later version than is known here was written by a newer Argosy: it is
   refused, and never written over.
3. Equal values are equal bytes. A file that says the same in a former version stays as it is until it says something
   else, so that nothing is committed because Argosy is a newer one.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Self, TypeVar

from msgspec import Struct, ValidationError, convert, to_builtins

from render.documents import DocumentErrors, emit, parse_documents
from render.errors import GitError
from render.expressions import lazy_expression
from render.model import ARGOSY_API_VERSION, Manifest, ObjectRef
from render.values import DiscreetStruct

VERSION_FIELD = "version"
MOST_BYTES = 8 << 20
_VERSION_KEY = b"version: "
_NAMES = lazy_expression(r"\{([a-z]+)\}")
_AT, _KEY_IN = " - at ", "`key` in "
_EXPECTED = lazy_expression(r"Expected `(?P<type>[a-z]+)(?: \| null)?`.*")
_MISSING = lazy_expression(r"Object missing required field `(?P<name>.*)`")
_NOT_OF_TYPE = {
    "str": "no text",
    "int": "no whole number",
    "float": "no number",
    "bool": "neither true nor false",
    "array": "no list",
    "object": "no object",
}
_Fields = TypeVar("_Fields")


class FileFault(Exception):
    """The fault of a file's content, as the end of a sentence about the file."""

    def __init__(self, fault: str, *, is_newer: bool = False) -> None:
        super().__init__(fault)
        self.fault = fault
        self.is_newer = is_newer

    def at(self, path: str) -> GitError:
        """Return the refusal of the file."""
        if self.is_newer:
            hint = "run that version of Argosy here as well, or a later one; the file stays as it is"
            return DamagedFile(path, self.fault, hint)
        return error_of_damaged_file(path, self.fault)


class DamagedFile(GitError):
    """A file of our branches cannot be read, by its path and its fault; unless somebody knows better, of the status."""

    def __init__(self, path: str, fault: str, hint: str, *, branch: str = "the status branch") -> None:
        super().__init__(f"{path} on {branch} {fault}", hint=hint)
        self.path = path
        self.fault = fault

    def in_rendered_commit(self, commit: str) -> "DamagedFile":
        """Return the error about the file of a rendered commit, which no pass writes anew."""
        hint = "the rendered branch is Argosy's to write; restore its last good commit"
        return DamagedFile(self.path, self.fault, hint, branch=f"the rendered branch, in commit {commit[:12]},")


class ObjectName(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The identity of an object as the fields of a file."""

    group: str = ""
    kind: str
    namespace: str = ""
    name: str

    @classmethod
    def of_ref(cls, ref: ObjectRef) -> "ObjectName":
        """Return the name of an object."""
        return cls(group=ref.group, kind=ref.kind, namespace=ref.namespace, name=ref.name)

    @property
    def ref(self) -> ObjectRef:
        """The object that is named."""
        return ObjectRef(self.group, self.kind, self.namespace, self.name)


class BranchFile(DiscreetStruct, frozen=True, kw_only=True, omit_defaults=True):
    """A file of a branch of ours; a subclass has its fields, and says of the file all that must be known of it.

    ``PATH`` is its path in the branch, with a name in braces for each part that differs from file to file. ``ABOUT``
    says in a sentence what the file is for. ``KIND`` and ``API_VERSION`` are those of the object in it.
    """

    PATH: ClassVar[str]
    ABOUT: ClassVar[str]
    KIND: ClassVar[str]
    API_VERSION: ClassVar[str] = ARGOSY_API_VERSION
    VERSION: ClassVar[int] = 1

    @classmethod
    def at(cls, *names: str) -> str:
        """Return the path of the file whose parts that differ from file to file have these names."""
        return cls.PATH.format(**dict(zip(_NAMES.findall(cls.PATH), names, strict=True)))

    @classmethod
    def of(cls, value: Any) -> Self:
        """Return the file whose one object is this plain value; FileFault where there is none like it."""
        check_version(value, cls.VERSION)
        return converted_to_struct(value, cls)

    @classmethod
    def read(cls, path: str, content: bytes) -> Self:
        """Return the file with this content; GitError where Argosy writes no such file."""
        try:
            return cls.of(object_of_content(content))
        except FileFault as fault:
            raise fault.at(path) from fault

    @classmethod
    def read_object(cls, path: str, value: Manifest) -> Self:
        """Return the file whose one object is this; GitError where Argosy writes no such file."""
        try:
            return cls.of(value)
        except FileFault as fault:
            raise fault.at(path) from fault

    @classmethod
    def with_version(cls, plain: Mapping[str, Any]) -> dict[str, Any]:
        """Return the object in a file with the version of today."""
        return {**plain, VERSION_FIELD: cls.VERSION}

    @classmethod
    def without_version(cls, value: Manifest) -> Manifest:
        """Return the object in a file without its version."""
        return {name: each for name, each in value.items() if name != VERSION_FIELD}

    def plain(self) -> Manifest:
        """Return the object in the file, without its version."""
        return {"apiVersion": self.API_VERSION, "kind": self.KIND, **plain_data(self)}

    @property
    def written_version(self) -> int:
        """The version that the file is written with; one that says nothing new may keep to an earlier version."""
        return self.VERSION

    def content(self) -> bytes:
        """Return the content of the file on a branch whose files have versions."""
        return emit({**self.plain(), VERSION_FIELD: self.written_version})

    def rendered_content(self) -> bytes:
        """Return the content of the file in a rendered commit, whose bytes are those of any Argosy: without version."""
        return emit(self.plain())


def plain_data(value: Struct) -> dict[str, Any]:
    """Return the fields of a struct as plain data, such as YAML is written of."""
    plain: dict[str, Any] = _value_with_lists(to_builtins(value))
    return plain


def _value_with_lists(value: Any) -> Any:
    """Return plain data with lists for tuples, which msgspec leaves as they are."""
    if isinstance(value, dict):
        return {name: _value_with_lists(each) for name, each in value.items()}
    return [_value_with_lists(each) for each in value] if isinstance(value, tuple | list) else value


def object_of_content(content: bytes) -> Manifest:
    """Return the one object of a file of the status branch as plain data; FileFault where it holds none."""
    if len(content) > MOST_BYTES:
        raise FileFault(f"it has {len(content)} bytes, but at most {MOST_BYTES} are read")
    return object_of_any_size(content)


def object_of_any_size(content: bytes) -> Manifest:
    """Return the one object of a file as plain data; FileFault where it holds none.

    A binding may be that of an object which hundreds of others need in a thousand clusters.
    """
    try:
        value = parse_documents(content)[0].value
    except (DocumentErrors, IndexError) as error:
        raise FileFault("it holds no object") from error
    if not isinstance(value, dict):
        raise FileFault("it holds no object")
    return value


def check_version(value: Any, known: int) -> None:
    """Raise FileFault where a plain object has a later version than is known here, or no version at all."""
    version = value.get(VERSION_FIELD, 0) if isinstance(value, Mapping) else 0
    if type(version) is not int or version < 0:
        raise FileFault(f"{VERSION_FIELD} is no whole number")
    if version > known:
        raise FileFault(
            f"has version {version}, and this Argosy knows {known} at most: a newer Argosy wrote it", is_newer=True
        )


def converted_to_struct(value: Any, fields: type[_Fields]) -> _Fields:
    """Return a plain value as a struct; FileFault with the place in it that is at fault."""
    try:
        return convert(value, fields)
    except ValidationError as error:
        raise FileFault(words_of_fault(str(error))) from error


def words_of_fault(error: str) -> str:
    """Return an error of msgspec as the end of a sentence about a file.

    >>> words_of_fault("Expected `str`, got `int` - at `$.details[0]`")
    'details[0] is no text'
    >>> (
    ...     words_of_fault("Object missing required field `kind` - at `$.left[1]`"),
    ...     words_of_fault("Expected `object`, got `array`"),
    ... )
    ('left[1].kind is missing', 'it is no object')
    """
    what, at, path = error.rpartition(_AT)
    if not at:
        what, path = error, ""
    place = path.removeprefix(_KEY_IN).strip("`").removeprefix("$").removeprefix(".")
    if missing := _MISSING.fullmatch(what):
        return f"{place}.{missing['name']} is missing".lstrip(".")
    subject = f"{'a key of ' if path.startswith(_KEY_IN) else ''}{place or 'it'}"
    expected = _EXPECTED.fullmatch(what)
    wrong = _NOT_OF_TYPE.get(expected["type"]) if expected else None
    return f"{subject} is {wrong}" if wrong and what.count("`") == _TWO_WORDS else f"{subject} has a value of no use"


_TWO_WORDS = 4
"""The quotes in an error that names the type that is expected and that which is there, and no limit of a value."""


def error_of_damaged_file(path: str, fault: str) -> GitError:
    """Return the refusal of a file; ``fault`` is the end of a sentence about it."""
    hint = "restore the file from an earlier commit of the branch, or remove it: the next pass writes it anew"
    return DamagedFile(path, f"is not as Argosy writes it: {fault}", hint)


def is_same_but_for_version(before: bytes | None, after: bytes | None) -> bool:
    r"""Say whether a file says the same as before, in a former version or in this one.

    >>> (
    ...     is_same_but_for_version(b"since: x\n", b"since: x\nversion: 1\n"),
    ...     is_same_but_for_version(b"since: x\n", b"since: y\nversion: 1\n"),
    ... )
    (True, False)
    """
    if before is None or after is None or before == after:
        return before == after
    return before == content_without_version(after)


def content_without_version(content: bytes) -> bytes:
    """Return the content of a file as version 0 had it, which named none."""
    begin, end = _place_of_version_line(content)
    return content[:begin] + content[end:]


def version_of_content(content: bytes) -> int:
    """Return the version that a file of ours names, without reading all of it; 0 where it names none."""
    begin, end = _place_of_version_line(content)
    return int(content[begin + len(_VERSION_KEY) : end]) if end > begin else 0


def _place_of_version_line(content: bytes) -> tuple[int, int]:
    """Return where the line with the version begins and ends; the same place twice where there is none.

    At the beginning of a line there are only the keys of the object in the file, as we write it.
    """
    begin = 0 if content.startswith(_VERSION_KEY) else content.find(b"\n" + _VERSION_KEY) + 1
    end = content.find(b"\n", begin) + 1
    is_version = content.startswith(_VERSION_KEY, begin) and content[begin + len(_VERSION_KEY) : end - 1].isdigit()
    return (begin, end) if is_version else (0, 0)
