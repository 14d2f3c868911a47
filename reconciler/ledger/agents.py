"""The words of agents as passes heard them: when the newest commit of each was first seen, and how its clock goes."""

from collections.abc import Mapping
from typing import ClassVar

from msgspec import Struct

from .branch_file import BranchFile


class AgentWord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The newest word of an agent: its commit, when a pass first saw that, and the mirror's time it was asked at.

    ``heard`` is empty for a word that was there before anybody listened. ``ahead`` are the seconds by which its clock
    is ahead of those of passes, as far as is known; of a member that passes reach, those of the member's own clock.
    """

    commit: str = ""
    heard: str = ""
    asked: int = 0
    ahead: int = 0


AgentWords = Mapping[str, AgentWord]
"""The words by cluster; one without an entry has said nothing yet."""


class AgentsFile(BranchFile, frozen=True, kw_only=True):
    """The words of all agents of a fleet, and what is known of the clocks of its members."""

    PATH: ClassVar[str] = "agents.yaml"
    KIND: ClassVar[str] = "AgentWords"
    ABOUT: ClassVar[str] = "When a pass first saw the newest commit of each agent, and the clocks that are wrong."

    clusters: dict[str, AgentWord]

    @classmethod
    def of_words(cls, words: AgentWords) -> "AgentsFile | None":
        """Return words as a file; None where there are none."""
        clusters = {name: word for name, word in words.items() if word != AgentWord()}
        return cls(clusters=clusters) if clusters else None
