"""The words of agents, heard in a pass: what each said newly, and how far the clocks of members are wrong.

Times of another machine are compared before anything goes by them; what is told by a clock that is ahead is set right
as it is taken in, so that nothing recorded lies in the future.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from msgspec.structs import replace

from reconciler.branches.agent_branches import AgentBeat, AgentFiles, is_own_path
from reconciler.branches.fleet_context import FleetContext
from reconciler.ledger.agents import AgentWord, AgentWords
from reconciler.ledger.cluster import ClusterRecord, ClusterState
from reconciler.observe.cluster_status import MemberObservation
from reconciler.record.heard_words import (
    MOST_SKEW,
    Said,
    agent_word_after,
    clock_error_to_record,
    file_with_corrected_times,
)
from reconciler.record.recorded_status import RecordedStatus
from reconciler.repository import CommitInfo
from reconciler.repository.trailers import RENDERED
from render.timing import parse_instant


def words_of_agents(context: FleetContext, agents: AgentFiles, recorded: RecordedStatus, now: str) -> AgentWords:
    """Return the words of the agents of members that pull, given the files that these gave.

    ``recorded`` is the status branch.
    """
    before, recorded = recorded.agents(), recorded.with_files(agents.files)
    if context.is_of_agent:
        return before
    # Who may write to an agent's branch, and writes what no agent does, is not that agent.
    tips = {name: tip for name, tip in agents.tips.items() if name not in agents.faulty}
    words = {name: word for name, word in before.items() if name not in tips}
    for name, tip in tips.items():
        record = recorded.cluster(name) or ClusterRecord(state=ClusterState(name=name))
        at = context.publication.repository.commit_info(tip).time
        beat = parse_instant(record.heartbeat)
        said = Said(
            commit=tip,
            time=max(at, int(beat.timestamp()) if beat else 0),
            asked=_commit_time_of_agent(context, name, record.applied),
        )
        words[name] = agent_word_after(before.get(name), said, now, recorded.time)
    return words


def _commit_time_of_agent(context: FleetContext, name: str, applied: str) -> int:
    """Return the time of the mirror's commit that an agent says it applied; 0 where that is not the newest one."""
    mirror = _mirror_commit(context, name)
    return mirror.time if mirror is not None and applied and mirror.trailer(RENDERED) == (applied,) else 0


def _mirror_commit(context: FleetContext, name: str) -> CommitInfo | None:
    publication = context.publication
    tip = publication.repository.tip(publication.ref(context.fleet.mirror_branch(name)))
    return publication.repository.commit_info(tip) if tip else None


def files_with_corrected_times(agents: AgentFiles, words: AgentWords) -> AgentFiles:
    """Return the files of agents with the times of those whose clocks are ahead set right."""
    ahead = {name: word.ahead for name, word in words.items() if word.ahead > 0 and name in agents.tips}
    if not ahead:
        return agents
    files = dict(agents.files)
    for path, content in agents.files.items():
        name = next((each for each in ahead if is_own_path(path, each)), "")
        if name and content is not None and not path.startswith("inventory/"):
            files[path] = file_with_corrected_times(path, content, ahead[name])
    return replace(agents, files=files)


def words_of_reached(
    words: AgentWords, heartbeats: Mapping[str, AgentBeat], begun: Iterable[str], now: str, recorded_at: int
) -> AgentWords:
    """Return the words with those of members that do not answer passes; ``begun`` are silent since this pass."""
    first, found = frozenset(begun), dict(words)
    for name, (commit, time) in heartbeats.items():
        known, said = found.get(name, AgentWord()), Said(commit=commit, time=_epoch_seconds_of_text(time))
        is_old = not known.commit and said.time < recorded_at
        if name in first or is_old:
            # What was said before the member fell silent says nothing of how it is since.
            found[name] = AgentWord(commit=commit, ahead=known.ahead)
        else:
            found[name] = agent_word_after(known, said, now, recorded_at)
    return found


def _epoch_seconds_of_text(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())


def words_with_clock_differences(words: AgentWords, members: Iterable[MemberObservation], behind: float) -> AgentWords:
    """Return the words with what the API servers of members tell of their clocks; ours is ``behind`` by so much."""
    found = dict(words)
    for member in members:
        if member.ahead is None:
            continue
        known, skew = found.get(member.cluster, AgentWord()), round(member.ahead - behind)
        skew = clock_error_to_record(known.ahead, skew) if abs(skew) > MOST_SKEW else 0
        found[member.cluster] = replace(known, ahead=skew)
    return {name: word for name, word in found.items() if word != AgentWord()}
