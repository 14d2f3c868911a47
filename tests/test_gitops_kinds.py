"""The kinds of other tools: each that argosy.yaml may ask for is known, and answers for its objects."""

from typing import Any

from reconciler.gitops.readers import KINDS
from render.settings.source import RenderedRelease


def a_spec(**source: Any) -> dict[str, Any]:
    return {"source": {"repoURL": "https://example.com/a.git", **source}}


def test_each_kind_that_may_be_asked_for_is_known_once() -> None:
    assert sorted(kind.name for kind in KINDS) == sorted(RenderedRelease)


def test_an_object_is_of_the_kind_that_its_group_tells() -> None:
    for kind in KINDS:
        manifest = {"apiVersion": f"{kind.group}/v1", "kind": str(kind.name)}
        assert [each.name for each in KINDS if each.is_of(manifest)] == [kind.name]
        assert not kind.is_of({**manifest, "apiVersion": "example.io/v1"})


def test_an_application_has_folders_charts_or_both() -> None:
    application = next(kind for kind in KINDS if kind.name is RenderedRelease.APPLICATION)
    charts = frozenset({"charts/web"})
    answers = [
        (
            application.has_folders(spec, charts),
            application.has_charts(spec, charts),
            application.has_more(spec, charts),
        )
        for spec in (
            a_spec(path="apps"),
            a_spec(path="charts/web"),
            a_spec(chart="web"),
            a_spec(path="apps", plugin={}),
            {"sources": [a_spec(path="apps")["source"], a_spec(chart="web")["source"]]},
        )
    ]
    assert answers == [
        (True, False, False),
        (False, True, True),
        (False, True, True),
        (False, False, False),
        (True, True, True),
    ]
