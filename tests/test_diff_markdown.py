"""The comment on a pull request: the same numbers at any length, never too long, and harmless whatever it quotes."""

import pytest
from msgspec.structs import replace

from overrides.changes import ChangedField
from reconciler.diff.difference import (
    ChangeAction,
    ClusterTotal,
    Difference,
    ObjectChange,
    OriginChange,
    PartChange,
    Takeover,
    Unplaced,
)
from reconciler.diff.markdown import difference_markdown
from reconciler.diff.words import summary_of_difference
from reconciler.pipeline.movements import Movement, ReplicaChange
from reconciler.rendering.problems import ObjectProblem
from render.model import ObjectRef

WEB = ObjectRef("apps", "Deployment", "shop", "web")
IMAGE = ChangedField(path="spec.image", operator="replace", before="web:1", after="web:2")
LABEL = ChangedField(path="metadata.labels.team", operator="add", after="shop")

SMALL = Difference(
    base="a" * 40,
    head="",
    joined=("lima",),
    clusters=(
        ClusterTotal(name="bern", changed=1, replicas_before=4, replicas_after=2),
        ClusterTotal(name="oslo", changed=1, added=1, replicas_before=4, replicas_after=6),
    ),
    objects=(
        ObjectChange(ref=ObjectRef("", "Service", "shop", "web"), action=ChangeAction.ADDED, clusters=("oslo",)),
        ObjectChange(ref=WEB, action=ChangeAction.CHANGED, clusters=("bern", "oslo"), fields=(IMAGE, LABEL)),
    ),
    takeovers=(Takeover(ref=WEB, before="", after="PropagationPolicy shop/web"),),
    movements=(
        Movement(
            ref=WEB,
            before=8,
            after=8,
            changes=(
                ReplicaChange(cluster="bern", before=4, after=2),
                ReplicaChange(cluster="oslo", before=4, after=6),
            ),
        ),
    ),
    problems=(ObjectProblem(ref=WEB, reason="NoClusterFit", message="0/3 clusters are available"),),
    replicas=8,
    members=("bern", "oslo", "paris"),
)


def test_it_reads_top_down() -> None:
    assert difference_markdown(SMALL, max_bytes=60_000) == (
        "### 1 cluster joins, 2 clusters change, 1 object added, 1 object changed, 1 object changes hands,"
        " 2 of 8 replicas move, 1 new problem\n"
        "\n<code>aaaaaaaaaaaa..work tree</code>\n"
        "\n**Problems (1)**\n"
        "\n- Deployment.apps shop/web&#58; NoClusterFit&#58; 0/3 clusters are available\n"
        "\n**Clusters (3)**\n"
        "\n| cluster | added | changed | removed | replicas |\n"
        "|---|---:|---:|---:|---:|\n"
        "| <code>bern</code> | 0 | 1 | 0 | 4 → 2 |\n"
        "| <code>lima</code> (joins) | 0 | 0 | 0 | |\n"
        "| <code>oslo</code> | 1 | 1 | 0 | 4 → 6 |\n"
        "\n<details><summary>Replicas (1)</summary>\n"
        "\n| workload | replicas | moved | clusters |\n"
        "|---|---:|---:|---|\n"
        "| <code>Deployment.apps shop/web</code> | 8 | 2 | <code>bern</code> 4 → 2, <code>oslo</code> 4 → 6 |\n"
        "\n</details>\n"
        "\n<details><summary>Policies (1)</summary>\n"
        "\n| object | claimed by | before |\n"
        "|---|---|---|\n"
        "| <code>Deployment.apps shop/web</code> | <code>PropagationPolicy shop/web</code>"
        " | <code>no policy</code> |\n"
        "\n</details>\n"
        "\n<details><summary>Objects (2)</summary>\n"
        "\n```diff\n"
        "+ Service shop/web in oslo\n"
        "@@ Deployment.apps shop/web in bern, oslo @@\n"
        '- spec.image: "web:1"\n'
        '+ spec.image: "web:2"\n'
        '+ metadata.labels.team: "shop"\n'
        "```\n"
        "\n</details>\n"
    )


def test_builds_that_changed_are_open_above_the_replicas() -> None:
    values = PartChange(role="values", name="values/eu.yaml", action=ChangeAction.CHANGED)
    change = OriginChange(build="HelmChart shop/web", path="charts/web.yaml", parts=(values,), objects=1)
    shown = difference_markdown(replace(SMALL, builds=(change,)), max_bytes=60_000)
    above, _, rest = shown.partition("\n**Origins (1)**\n")
    assert "**Clusters (3)**" in above
    assert rest.startswith(
        "\n| built by | what changed |\n|---|---|\n"
        "| <code>HelmChart shop/web</code> | values values/eu.yaml |\n"
        "\n<details><summary>Replicas (1)</summary>\n"
    )


def test_no_difference_is_one_line() -> None:
    text = difference_markdown(Difference(base="a" * 40, head="b" * 40), max_bytes=2000)
    assert text == "### No difference\n\n<code>aaaaaaaaaaaa..bbbbbbbbbbbb</code>\n"


def a_big_difference(number: int) -> Difference:
    refs = [ObjectRef("apps", "Deployment", "shop", f"web-{each}-é") for each in range(number)]
    names = [f"member-{each:04}" for each in range(number)]
    return Difference(
        base="a" * 40,
        head="b" * 40,
        clusters=tuple(ClusterTotal(name=name, changed=number, replicas_after=number) for name in names),
        objects=tuple(
            ObjectChange(ref=ref, action=ChangeAction.CHANGED, clusters=tuple(names), fields=(IMAGE,)) for ref in refs
        ),
        movements=tuple(
            Movement(
                ref=ref,
                before=0,
                after=number,
                changes=tuple(ReplicaChange(cluster=name, before=0, after=1) for name in names),
            )
            for ref in refs
        ),
        members=tuple(names),
    )


@pytest.mark.parametrize("max_bytes", [2000, 5000, 60_000])
@pytest.mark.parametrize("number", [0, 3, 40, 300])
def test_it_is_never_too_long_and_its_summary_is_whole(number: int, max_bytes: int) -> None:
    difference = a_big_difference(number)
    text = difference_markdown(difference, max_bytes=max_bytes)
    assert len(text.encode()) <= max_bytes
    assert text.partition("\n")[0].casefold() == f"### {summary_of_difference(difference)}"
    assert (text.count("<details>"), text.count("```") % 2) == (text.count("</details>"), 0)


def test_what_is_said_of_many_objects_is_one_line_that_counts_them() -> None:
    """A comment on a pull request had a line for each of 300 objects that one typo leaves without a cluster."""
    big = a_big_difference(40)
    refs = [each.ref for each in big.objects]
    problems = tuple(ObjectProblem(ref=ref, reason="NoClusterFit", message="0/3 fit") for ref in refs)
    difference = replace(
        big, problems=problems, unplaced=tuple(Unplaced(ref=ref, clusters=("bern", "oslo")) for ref in refs)
    )
    text = difference_markdown(difference, max_bytes=60_000)
    several = "Deployment.apps shop/web-0-é, Deployment.apps shop/web-1-é, Deployment.apps shop/web-2-é and 37 more"
    assert f"**Problems (40)**\n\n- {several}&#58; NoClusterFit&#58; 0/3 fit\n" in text
    assert f"**End in no cluster (40)**\n\n- {several}&#58; leave bern, oslo, and no cluster takes them\n" in text
    assert f"@@ {several} in all 40 clusters @@\n" in text
    assert f"| <code>{several}</code> | 0 → 40 | 0 each |" in text
    assert text.endswith("<code>argosy diff -v -o markdown</code> has one for each.\n")
    each = difference_markdown(difference, max_bytes=600_000, is_full=True)
    assert each.count("NoClusterFit") == each.count("no cluster takes it") == each.count("@@ Deployment") == 40
    assert "argosy diff -v" not in each


def test_what_does_not_fit_is_counted() -> None:
    text = difference_markdown(a_big_difference(300), max_bytes=60_000, is_full=True)
    shown = text.count("@@ Deployment.apps")
    assert f"\nand {300 - shown} more\n" in text.partition("Objects (300)")[2]
    assert "10 more |" not in text
    assert "and 290 more |\n" in text


NASTY = "</code></details>@everyone [x](http://evil) |`\n## a\u2028```"


def test_nothing_it_quotes_is_markdown() -> None:
    ref = ObjectRef("", "ConfigMap", "shop", NASTY)
    change = ChangedField(path=f"data.{NASTY}", operator="replace", before=NASTY, after=f"```\n{NASTY}")
    text = difference_markdown(
        Difference(
            base="a" * 40,
            head="b" * 40,
            clusters=(ClusterTotal(name="bern", changed=1),),
            objects=(ObjectChange(ref=ref, action=ChangeAction.CHANGED, clusters=("bern",), fields=(change,)),),
            takeovers=(Takeover(ref=ref, before=NASTY, after="x"),),
            problems=(ObjectProblem(ref=ref, reason="Bad", message=NASTY),),
            members=("bern", "oslo"),
        ),
        max_bytes=60_000,
    )
    outside, fenced = text.split("```diff\n")
    fenced, _, after = fenced.rpartition("```\n")
    assert after == "\n</details>\n"
    assert [line[:2] for line in fenced.splitlines()] == ["@@", "- ", "+ "]
    assert ("@" in outside, "evil)" in outside, outside.count("</details>")) == (False, False, 1)
