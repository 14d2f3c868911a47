"""The files that let a forge check pull requests and reconcile what is merged.

Argosy is installed from a commit of the repository that keeps it, never by its name in an index, where it may be
anybody's. Where it is kept is not known here: the files have names in its place that can be nobody's, and fail by them.
"""

from collections.abc import Iterable, Iterator, Mapping

_GITHUB = """\
# What a change does to every cluster, before it is merged; then one pass for what was merged.
# The first pass, once and by hand: argosy reconcile --bootstrap
#
# Before the first run: write the repository that keeps Argosy, and the 40 digits of a commit of it, in place of
# __OWNER__/argosy and __COMMIT__ (twice). Nobody can have these names, so that every run fails until then.
#
# Credentials: the check needs none, and pull requests of forks are checked as well. The pass pushes with the token of
# the job, which must be allowed to push argosy/* without a pull request. To reach clusters, it takes a kubeconfig from
# the secret FLEET_KUBECONFIG of the environment "argosy": give that environment to the default branch alone.
name: argosy
on:
  pull_request:
  push:
    branches-ignore: ["argosy/**"]

permissions:
  contents: read

jobs:
  check:
    if: github.event_name == 'pull_request'
    runs-on: ubuntu-latest
    timeout-minutes: 10
    permissions:
      contents: read
      pull-requests: write
    steps:
      - uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2
      - uses: __OWNER__/argosy/.github/actions/render@__COMMIT__ # where you keep Argosy, pinned to a commit
        with:
          strict: "true"
  reconcile:
    if: github.event_name == 'push' && github.ref_name == github.event.repository.default_branch
    runs-on: ubuntu-latest
    timeout-minutes: 15
    concurrency: argosy-reconcile
    environment: argosy
    permissions:
      contents: write
    steps:
      - uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2
      - uses: __OWNER__/argosy/.github/actions/install@__COMMIT__ # where you keep Argosy, pinned to a commit
      - name: Kubeconfig
        env:
          FLEET_KUBECONFIG: ${{ secrets.FLEET_KUBECONFIG }}
        run: |
          if [ -n "$FLEET_KUBECONFIG" ]; then
            (umask 077 && printf '%s\\n' "$FLEET_KUBECONFIG" > "$RUNNER_TEMP/kubeconfig")
            echo "KUBECONFIG=$RUNNER_TEMP/kubeconfig" >> "$GITHUB_ENV"
          fi
      - name: Reconcile
        env:
          ARGOSY_AUTHOR_NAME: argosy
          ARGOSY_AUTHOR_EMAIL: argosy@users.noreply.github.com
          ARGOSY_CLONE_PROGRAMS: "off" # no program that .git/config names is run
        run: argosy reconcile
"""
_GITLAB = """\
# What a change does to every cluster, before it is merged; then one pass for what was merged.
# The first pass, once and by hand: argosy reconcile --bootstrap
#
# Before the first run: write into ARGOSY_INSTALL the repository that keeps Argosy, and the 40 digits of a commit of it.
# Every job fails until then.
#
# Credentials, as masked variables (Settings > CI/CD > Variables):
#   ARGOSY_PUSH_TOKEN     protected: a project access token that may write the repository, for the pass
#   ARGOSY_COMMENT_TOKEN  optional: a project access token with the role Reporter and the scope api, for the comment on
#                         a merge request; whoever may push a branch can read it
#   KUBECONFIG            optional, protected, of the type File: how the pass reaches clusters
stages: [check, reconcile]

variables:
  GIT_DEPTH: "0"
  ARGOSY_INSTALL: "" # git+https://HOST/PATH/argosy.git@COMMIT
  ARGOSY_AUTHOR_NAME: argosy
  ARGOSY_AUTHOR_EMAIL: argosy@noreply.example.com
  ARGOSY_CLONE_PROGRAMS: "off" # no program that .git/config names is run

default:
  image: python:3.13
  before_script:
    - |
      address='git\\+(https|ssh)://[^[:space:]]+@[0-9a-f]{40}'
      if ! printf '%s' "$ARGOSY_INSTALL" | tr '\\n' ' ' | grep -Eqx "$address"; then
        echo "write into ARGOSY_INSTALL: git+https://HOST/PATH/argosy.git@COMMIT, a commit with its 40 digits" >&2
        exit 2
      fi
    - pip install --quiet "argosy @ $ARGOSY_INSTALL"

check:
  stage: check
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
  # The report can be read however the check ends.
  script:
    - code=0
    - argosy validate --strict --rev HEAD --base "$CI_MERGE_REQUEST_DIFF_BASE_SHA" -o junit > argosy.xml || code=$?
    - argosy diff --check -o markdown "$CI_MERGE_REQUEST_DIFF_BASE_SHA" HEAD > argosy.md || code=$?
    - exit "$code"
  # One comment on the merge request, written anew by every run and found by its first line.
  after_script:
    - |
      if [ -z "${ARGOSY_COMMENT_TOKEN:-}" ] || [ ! -s argosy.md ]; then exit 0; fi
      marker="<!-- argosy . -->"
      notes="$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID/notes"
      { echo "$marker"; cat argosy.md; } > argosy-comment.md
      said() { curl --silent --show-error --fail --header "PRIVATE-TOKEN: $ARGOSY_COMMENT_TOKEN" "$@"; }
      found=$(said "$notes?per_page=100" | python3 -I -c '
      import json, sys
      print(*[note["id"] for note in json.load(sys.stdin) if note["body"].startswith(sys.argv[1])][:1])' "$marker")
      if [ -n "$found" ]; then notes="$notes/$found" method=PUT; else method=POST; fi
      said --output /dev/null --request "$method" --data-urlencode "body@argosy-comment.md" "$notes"
  artifacts:
    when: always
    paths: [argosy.md]
    reports:
      junit: argosy.xml

reconcile:
  stage: reconcile
  resource_group: argosy
  rules:
    - if: $CI_PIPELINE_SOURCE == "push" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  script:
    - git remote set-url --push origin "https://argosy:$ARGOSY_PUSH_TOKEN@$CI_SERVER_HOST/$CI_PROJECT_PATH.git"
    - git switch --quiet --force-create "$CI_COMMIT_BRANCH"
    - argosy reconcile
"""

PIPELINES: Mapping[str, Mapping[str, str]] = {
    "github": {".github/workflows/argosy.yml": _GITHUB},
    "gitlab": {".gitlab-ci.yml": _GITLAB},
}
"""The files for each forge, by path from the root of the repository."""

_PLACES = {"github": "__OWNER__/argosy and __COMMIT__", "gitlab": "the variable ARGOSY_INSTALL"}


def placeholders_to_fill_in(hosts: Iterable[str]) -> Iterator[str]:
    """Yield what a person has to write into the files of these forges: where Argosy is kept, and a commit of it.

    >>> [*placeholders_to_fill_in(["gitlab"])]
    ['write where you keep Argosy, and its commit, into .gitlab-ci.yml: the variable ARGOSY_INSTALL']
    """
    for host in dict.fromkeys(hosts):
        for path in PIPELINES[host]:
            yield f"write where you keep Argosy, and its commit, into {path}: {_PLACES[host]}"
