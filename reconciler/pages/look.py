"""A look: what one request asks of a fleet, and the documents that answer it."""

from collections.abc import Hashable, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.outputs.fleet_status import fleet_status_document
from reconciler.overview.instants import FleetInstant

from .command_answers import error_of_answer
from .links import Links
from .reader import FleetReader, MakeDocument, PlainDocument


class ViewAnswer(Struct, frozen=True, kw_only=True):
    """The answer of a view: a document, and the command that prints it with ``-o json``.

    ``shown`` are further values for the template, such as the filters that were asked for. ``title`` takes the place of
    the question where that depends on what is shown. ``is_ready`` is False while the document is still being computed:
    then the page says so, and asks again. ``template`` takes the place of the one of the view. ``why_no_document`` is
    said to whoever asks for the document where there is none.
    """

    document: PlainDocument = field(default_factory=dict)
    command: tuple[str, ...] = ()
    shown: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    is_ready: bool = True
    template: str = ""
    why_no_document: str = "this page has no document until something is asked for"

    def in_template(self, template: str) -> "ViewAnswer":
        """Return this shown by another template."""
        return replace(self, template=template)

    def with_title(self, title: str) -> "ViewAnswer":
        """Return this under another title."""
        return replace(self, title=title)


class Look(Struct, frozen=True, kw_only=True):
    """A request: the fleet and the commits that it is about, the parts of its address, and what is asked behind it.

    ``is_fixed``: the page is for a report, in which nobody can ask for anything else.
    """

    reader: FleetReader
    commits: FleetInstant
    links: Links
    parts: Mapping[str, str]
    query: Mapping[str, str]
    at: str = ""
    is_fixed: bool = False

    @property
    def newer(self) -> FleetInstant | None:
        """The newest commits, where they are being read and those before them are shown; None where these are shown."""
        newest = self.reader.newest_seen
        return newest if newest and not (self.at or self.commits.now) and newest.key != self.commits.key else None

    def asked(self, name: str, default: str = "") -> str:
        """Return a value that is asked for behind the address."""
        return self.query.get(name, "").strip() or default

    def page_number(self) -> int:
        """Return the page of a list that is asked for, the first one by default."""
        return self.number_asked("page", 1, 999_999)

    def number_asked(self, name: str, default: int, most: int) -> int:
        """Return a number that is asked for, from 1 to the ``most``; the default for what is none."""
        asked = self.asked(name)
        return min(max(1, int(asked)), most) if asked.isascii() and asked.isdigit() and len(asked) < 7 else default

    def document(self, key: Hashable, make: MakeDocument) -> PlainDocument:
        """Return a document of these commits, made once: ``make`` gets a ``FleetReading`` of the branches.

        ``key`` says which one it is, with all that it depends on besides them.
        """
        return self.reader.document(self.commits, key, make)

    def words(self, *command: str) -> tuple[str, ...]:
        """Return the words of a command that takes ``--at``, about what is shown."""
        return (*command, f"--at={self.at}") if self.at else command

    def fleet_status(self) -> PlainDocument:
        """Return the document of ``argosy status``."""
        return self.document("status", lambda reading: fleet_status_document(reading.recorded_fleet()))

    def answer_of_command(self, words: tuple[str, ...], **shown: object) -> ViewAnswer:
        """Return the answer that a command gives, which may take long and so runs in a process of its own."""
        return self._answer_of_command(words, 0, shown)

    def answer_of_members(self, words: tuple[str, ...], seconds: float) -> ViewAnswer:
        """Return the answer of a command that asks members, which are asked again after so many seconds."""
        return self._answer_of_command((*words, *self.reader.access_words), seconds, {})

    def _answer_of_command(self, words: tuple[str, ...], seconds: float, shown: Mapping[str, Any]) -> ViewAnswer:
        answer = self.reader.answer_of_command(self.commits, words, seconds)
        if not answer.is_ready:
            return ViewAnswer(command=words, shown=shown, is_ready=False)
        if answer.document is None:
            raise error_of_answer(answer)
        return ViewAnswer(document=answer.document, command=words, shown=shown)
