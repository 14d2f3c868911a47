"""Rendered commits as the mirror of one cluster tells them: its folder, and the rules that its settings give.

Each commit of a mirror names the rendered commit that it was taken from, and by that name an inventory knows it. So a
cluster that pulls and one that is applied to from outside are recorded alike.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property

from msgspec import Struct

from reconciler.branches.agent_settings import FILE, MOST_BYTES, AgentSettings, parse_agent_settings
from reconciler.guards.source_trailers import allowed_by
from reconciler.ledger.inventory import HistoryPlace
from reconciler.pipeline.previous import Previous, RenderedTree, StoredTrees
from reconciler.repository import CommitInfo, Repository
from reconciler.repository.history import RemovedFile
from reconciler.repository.trailers import RENDERED
from render.errors import GitError
from render.gitobjects import TREE_MODE, TreeEntry

from .rendered_commits import RenderedCommits

MOST_COMMITS = 10_000
"""The commits of a mirror that are looked through for one that a cluster may hold."""


class Mirror(Struct, frozen=True, dict=True):
    """The mirror of a cluster at one of its commits."""

    repository: Repository
    cluster: str
    tip: str

    @cached_property
    def rendered_commit(self) -> str:
        """The rendered commit that the tip was taken from."""
        return rendered_commit_mirrored_by(self.repository.commit_info(self.tip))

    @cached_property
    def settings(self) -> AgentSettings:
        """The settings of the cluster's agent."""
        return self.settings_at(self.tip)

    @cached_property
    def mirror_commits_by_rendered_commit(self) -> Mapping[str, str]:
        """The commits of the mirror by the rendered commits they were taken from, the newest of each, newest first."""
        found: dict[str, str] = {}
        for info in self.repository.history(self.tip, MOST_COMMITS):
            found.setdefault(rendered_commit_mirrored_by(info), info.id)
        return found

    def mirroring_commit_of(self, rendered: str) -> str:
        """Return the newest commit that was taken from a rendered one; GitError where the mirror has none."""
        if rendered == self.rendered_commit:
            return self.tip
        if rendered not in self.mirror_commits_by_rendered_commit:
            raise GitError(
                f"the mirror of {self.cluster!r} never had rendered commit {rendered[:12]}, which the cluster may hold",
                hint="its branch was rewound or written anew; if that was meant, run once with --accept-rewind",
            )
        return self.mirror_commits_by_rendered_commit[rendered]

    @cached_property
    def _settings_by_commit(self) -> dict[str, AgentSettings]:
        return {}

    def settings_at(self, commit: str) -> AgentSettings:
        """Return the settings at one commit of the mirror, read once; GitError where there are none."""
        if commit not in self._settings_by_commit:
            self._settings_by_commit[commit] = self._read_agent_settings(commit)
        return self._settings_by_commit[commit]

    def _read_agent_settings(self, commit: str) -> AgentSettings:
        tree = self.repository.commit_info(commit).tree
        found = next((each for each in self.repository.read_trees([tree])[tree] if each.text == FILE), None)
        content = self.repository.read_blobs([found.id])[found.id] if found and found.mode != TREE_MODE else b""
        return parse_agent_settings(content if len(content) <= MOST_BYTES else b"", self.cluster, commit)


def rendered_commit_mirrored_by(info: CommitInfo) -> str:
    """Return the rendered commit that a commit of a mirror was taken from; GitError where it names none."""
    named = info.trailer(RENDERED)
    if len(named) != 1:
        raise GitError(f"commit {info.id[:12]} of the mirror was not written by Argosy", hint="see who pushes to it")
    return named[0]


class MirroredCommits(RenderedCommits, kw_only=True):
    """Rendered commits as a mirror tells them; ``is_lenient``: those that it never had asked for nothing.

    ``applied`` is the commit at which the agent has seen the cluster converge last, whose parent names it since.
    """

    mirror: Mirror
    applied: str = ""
    is_lenient: bool = False

    def first_commit_of_branch(self, commit: str) -> str:
        """Return the commit that the fleet's rendered branch began with, as the settings say."""
        return self.mirror.settings_at(self.mirror.mirroring_commit_of(commit)).beginning

    def allowed_removals(self, cluster: str, converged: str, commit: str) -> int | None:
        """Return how many objects left the mirrored folder since the cluster converged: a pass has allowed them."""
        if not converged or (self.is_lenient and converged not in self.mirror.mirror_commits_by_rendered_commit):
            return None
        old, new = map(self.mirror.mirroring_commit_of, (converged, commit))
        commits = self.repository.commits_between(old, new, MOST_COMMITS) if old != new else ()
        return sum(each.count for each in allowed_by(commits).removals if each.cluster == cluster) or None

    def is_ancestor_of(self, commit: str, other: str) -> bool:
        """Return whether a commit was mirrored before another one."""
        if commit == other or other not in self.mirror.mirror_commits_by_rendered_commit:
            return False
        return self.repository.is_ancestor(*map(self.mirror.mirroring_commit_of, (commit, other)))

    def history_place(self, given: str, commit: str) -> HistoryPlace:
        """Return the same; a commit that was never mirrored is one that a pass applied, before this one or since."""
        if given in self.mirror.mirror_commits_by_rendered_commit:
            return super().history_place(given, commit)
        return HistoryPlace.SINCE if commit == self.applied and not self.is_lenient else HistoryPlace.BEFORE

    def _read_commit(self, commit: str) -> Previous:
        cluster = self.mirror.cluster
        trees = StoredTrees(self._tree_entries_without_settings_file)
        if (
            self.is_lenient
            and commit != self.mirror.rendered_commit
            and commit not in self.mirror.mirror_commits_by_rendered_commit
        ):
            tree = RenderedTree(root=b"", trees=trees, clusters={})
            return Previous(commit=commit, source="", version="", bindings={}, tree=tree)
        mirrored = self.mirror.mirroring_commit_of(commit)
        folder = self.repository.commit_info(mirrored).tree
        bindings = self.mirror.settings_at(mirrored).rules.bindings(cluster)
        tree = RenderedTree(root=folder, trees=trees, clusters={cluster: folder})
        return Previous(commit=commit, source="", version="", bindings=bindings, tree=tree)

    def _tree_entries_without_settings_file(self, ids: Iterable[bytes]) -> Mapping[bytes, tuple[TreeEntry, ...]]:
        found = self.repository.read_trees(ids)
        return {id_: tuple(entry for entry in entries if entry.text != FILE) for id_, entries in found.items()}

    def _removed_files(self, cluster: str, commits: Iterable[str]) -> list[RemovedFile]:
        assert cluster == self.mirror.cluster
        known = [
            each for each in commits if not self.is_lenient or each in self.mirror.mirror_commits_by_rendered_commit
        ]
        removed = self.repository.removed_files(map(self.mirror.mirroring_commit_of, known), ".") if known else ()
        infos = {info.id: info for info in self.repository.commit_infos({file.commit for file in removed})}
        return [
            file._replace(commit=rendered_commit_mirrored_by(infos[file.commit]))
            for file in removed
            if file.path != FILE
        ]
