"""The apps in a cluster: its objects by the app that their labels name."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from msgspec import Struct

from .objects import SurveyedObject, states_by_rank
from .states import SurveyedState, rank_of_state


class SurveyedApp(Struct, frozen=True, kw_only=True):
    """An app in a cluster ("": objects whose labels name none): how many objects it has there, and in which states."""

    app: str
    objects: int
    replicas: int
    counts: Mapping[SurveyedState, int]


def apps_in_cluster(cluster: str, objects: Iterable[SurveyedObject]) -> tuple[SurveyedApp, ...]:
    """Return the apps that objects of a cluster belong to, by name."""
    found: dict[str, list[SurveyedObject]] = defaultdict(list)
    for each in objects:
        found[each.app].append(each)
    return tuple(_app_of_objects(app, several, cluster) for app, several in sorted(found.items()))


def _app_of_objects(app: str, objects: list[SurveyedObject], cluster: str) -> SurveyedApp:
    ranks = Counter(rank_of_state(each.in_cluster(cluster).state) for each in objects)
    return SurveyedApp(
        app=app,
        objects=len(objects),
        replicas=sum(each.replicas[cluster] for each in objects),
        counts=states_by_rank(ranks),
    )
