"""The forms in which repositories keep what is no Kubernetes object yet: charts, templates, other languages and tools.

Argosy reads objects, and has kustomizations and charts made into objects. Of what else there is, nothing runs. Whoever
has a repository of that alone would wait for objects in vain, so it is said, and the answer of a command is no.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from render.errors import Problem
from render.words import counted_noun

from .desired import Desired
from .files import FLEET_FILE, Reason, SourceFile

NOTHING_READ = "NothingRead"


class UnreadForm(NamedTuple):
    """A form of files: its noun and the plural, what the names of its files end in, and what makes objects of them.

    ``makes_objects``: what it describes is meant to be objects of Kubernetes.
    """

    noun: str
    nouns: str
    ends: tuple[str, ...]
    advice: str
    makes_objects: bool = True


class CountedForm(NamedTuple):
    """A form with the number of its files, charts or templates in a repository."""

    form: UnreadForm
    number: int

    def __str__(self) -> str:
        return counted_noun(self.number, self.form.noun, self.form.nouns)


LANGUAGES = (
    UnreadForm("file in CUE", "files in CUE", (".cue",), "commit what CUE makes"),
    UnreadForm("file in Jinja", "files in Jinja", (".yaml.j2", ".yml.j2"), "commit what Jinja makes"),
    UnreadForm("file in Jsonnet", "files in Jsonnet", (".jsonnet", ".libsonnet"), "commit what Jsonnet makes"),
    UnreadForm("file in KCL", "files in KCL", (".k",), "commit what KCL makes"),
    UnreadForm("file in Starlark", "files in Starlark", (".star",), "commit what Starlark makes"),
)
"""Languages that manifests are written in, and that nothing here runs."""
CHART = UnreadForm("Helm chart", "Helm charts", (), "argosy init --charts writes a HelmChart for each chart")
_BY_REASON = {
    Reason.HELM: CHART,
    Reason.TEMPLATE: UnreadForm("template with {{ }}", "templates with {{ }}", (), "commit what is made of it"),
    Reason.YTT: UnreadForm("template of ytt", "templates of ytt", (), "commit what it makes"),
}
_COMPOSE = tuple(f"/{stem}.{suffix}" for stem in ("docker-compose", "compose") for suffix in ("yaml", "yml"))
_IN_CLOUDS = "it makes no objects that Git holds"
_BY_NAME = (
    UnreadForm("module of Timoni", "modules of Timoni", ("/timoni.cue",), "commit what 'timoni build' makes"),
    UnreadForm("helmfile", "helmfiles", ("/helmfile.yaml", "/helmfile.yml"), "commit what 'helmfile template' makes"),
    UnreadForm("file of Docker Compose", "files of Docker Compose", _COMPOSE, "write objects for what it runs", False),
    UnreadForm("file of Terraform", "files of Terraform", (".tf", ".tf.json"), _IN_CLOUDS, False),
    UnreadForm("project of Pulumi", "projects of Pulumi", ("/Pulumi.yaml",), _IN_CLOUDS, False),
    UnreadForm("job of Nomad", "jobs of Nomad", (".nomad", ".nomad.hcl"), "it runs in no cluster of Kubernetes", False),
)


def forms_not_read(files: Sequence[SourceFile], desired: Desired) -> Iterator[CountedForm]:
    """Yield the forms of what is not read below the folder of a fleet, with their numbers."""
    counts = Counter(each.reason for each in desired.skipped)
    base = desired.fleet.path.removesuffix(FLEET_FILE)
    below = [f"/{file.path.removeprefix(base)}" for file in files if file.path.startswith(base)]
    if "/Chart.yaml" in below and not desired.charts:
        counts[Reason.HELM] += 1
    for reason, form in _BY_REASON.items():
        if counts[reason]:
            yield CountedForm(form, counts[reason])
    for form in (*LANGUAGES, *_BY_NAME):
        if count := sum(path.endswith(form.ends) and "/." not in path for path in below):
            yield CountedForm(form, count)


def forms_nothing_is_read_of(
    files: Sequence[SourceFile], desired: Desired, *, has_others: bool = False
) -> tuple[CountedForm, ...]:
    """Return the forms of a repository of which nothing is read; none where it has a single object.

    ``has_others``: those of other tools count, too, whose files are not meant to be objects.
    """
    if desired.templates:
        return ()
    forms = forms_not_read(files, desired)
    return tuple(each for each in forms if each.form.makes_objects or has_others)


def warning_of_nothing_read(files: Sequence[SourceFile], desired: Desired) -> Iterator[Problem]:
    """Yield the warning about a repository that keeps what could be objects, of which nothing is read."""
    if forms := forms_nothing_is_read_of(files, desired):
        message = f"nothing is read of {forms_in_words(forms)}"
        yield Problem(desired.fleet.path or ".", 0, "", message, hint=forms[0].form.advice, kind=NOTHING_READ)


def forms_in_words(forms: Iterable[CountedForm]) -> str:
    """Return forms as words.

    >>> forms_in_words([CountedForm(form, number) for number, form in enumerate(LANGUAGES[:3], start=1)])
    '1 file in CUE, 2 files in Jinja and 3 files in Jsonnet'
    """
    *others, last = [str(each) for each in forms]
    return f"{', '.join(others)} and {last}" if others else last
