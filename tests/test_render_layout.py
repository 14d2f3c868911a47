"""Names become harmless paths, and no two names the same one."""

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from render.layout import file_name_of_object, kind_folder, object_path, ref_of_object_path
from render.model import ObjectRef

from .tables import each_row


class Path(NamedTuple):
    why: str
    ref: ObjectRef
    want: tuple[str, str, str]


PATHS = [
    Path("namespaced", ObjectRef("apps", "Deployment", "shop", "web"), ("shop", "Deployment.apps", "web.yaml")),
    Path("core group", ObjectRef("", "Service", "shop", "web"), ("shop", "Service", "web.yaml")),
    Path(
        "cluster-scoped with a colon",
        ObjectRef("rbac.authorization.k8s.io", "ClusterRole", "", "system:web"),
        ("_cluster", "ClusterRole.rbac.authorization.k8s.io", "system%3Aweb.yaml"),
    ),
    Path("upper case is kept apart", ObjectRef("", "X", "", "Web"), ("_cluster", "X", "%57eb.yaml")),
    Path("a slash cannot open a folder", ObjectRef("", "X", "", "../x"), ("_cluster", "X", "..%2Fx.yaml")),
    Path("an acronym is a kind", ObjectRef("a.io", "EMQX", "", "x"), ("_cluster", "EMQX.a.io", "x.yaml")),
    Path(
        "so are its capitals in a longer one", ObjectRef("", "HTTPRoute", "", "x"), ("_cluster", "HTTPRoute", "x.yaml")
    ),
    Path(
        "a kind in capitals alone stands beside the usual one",
        ObjectRef("a.io", "WIDGET", "", "x"),
        ("_cluster", "%57%49%44%47%45%54.a.io", "x.yaml"),
    ),
    Path("the parent folder is no name", ObjectRef("", "X", "", ".."), ("_cluster", "X", "%2E%2E.yaml")),
]


@each_row("case", PATHS, ids=lambda case: case.why)
def test_object_path(case: Path) -> None:
    assert object_path(case.ref) == case.want


def test_a_path_leads_back_to_its_object() -> None:
    refs = [case.ref for case in PATHS]
    assert [ref_of_object_path("/".join(object_path(ref))) for ref in refs] == refs


@given(st.from_regex(r"[A-Z]{5,9}", fullmatch=True))
def test_a_kind_in_capitals_alone_meets_no_other(kind: str) -> None:
    others = {kind.capitalize(), kind.lower(), kind[:1] + kind[1:].lower(), kind[:-1] + kind[-1].lower()}
    folder = kind_folder(ObjectRef("a.io", kind, "", "x")).lower()
    assert folder not in {kind_folder(ObjectRef("a.io", other, "", "x")).lower() for other in others}


@given(st.text(min_size=1), st.text(min_size=1))
def test_different_names_never_meet_even_without_case(one: str, other: str) -> None:
    encoded = file_name_of_object(one).lower(), file_name_of_object(other).lower()
    assert (encoded[0] == encoded[1]) == (one == other)


@given(st.text(min_size=1, max_size=400))
def test_a_name_is_one_short_path_component(name: str) -> None:
    encoded = file_name_of_object(name)
    assert len(encoded.encode()) <= 200
    assert "/" not in encoded
    assert encoded.strip(".")
