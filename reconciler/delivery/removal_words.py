"""What the source says may leave a cluster: the trailers of its commits since what the cluster holds was rendered."""

from dataclasses import dataclass, field

from reconciler.passes.guard import Allowance
from reconciler.passes.guarding import allowed_between
from reconciler.passes.trailers import SOURCE
from reconciler.repository import Repository
from render.errors import GitError


@dataclass(slots=True)
class RemovalWords:
    """The allowances between a rendered commit a cluster converged at and the one it is given, each pair read once."""

    repository: Repository
    commit: str
    _known: dict[str, tuple[Allowance, ...]] = field(default_factory=dict)

    def allowed(self, cluster: str, converged: str) -> int | None:
        """Return how many objects may leave a cluster at once; None where nothing is said."""
        if converged and converged not in self._known:
            self._known[converged] = self._since(converged)
        said = self._known.get(converged, ())
        return max((each.count for each in said if each.cluster in {cluster, "*"}), default=None)

    def _since(self, converged: str) -> tuple[Allowance, ...]:
        try:
            old, new = (self.repository.commit_info(commit).trailer(SOURCE)[0] for commit in (converged, self.commit))
            return allowed_between(self.repository, old, new).removals if old != new else ()
        except (GitError, IndexError):  # a source that is not here allows nothing
            return ()
