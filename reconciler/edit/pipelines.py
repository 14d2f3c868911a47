"""The files that let a forge check pull requests and reconcile what is merged."""

from collections.abc import Mapping

_GITHUB = """\
# What a change does to every cluster, before it is merged; then one pass for what was merged.
# The first pass, once and by hand: argosy reconcile --bootstrap
name: argosy
on:
  pull_request:
  push:
    branches: [main]

permissions:
  contents: write

jobs:
  check:
    if: github.event_name == 'pull_request'
    runs-on: ubuntu-latest
    timeout-minutes: 10
    permissions:
      contents: read
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
      - run: pipx install argosy
      - run: argosy validate --rev HEAD -o github
      - run: argosy diff --check -o markdown "origin/$GITHUB_BASE_REF" HEAD >> "$GITHUB_STEP_SUMMARY"
  reconcile:
    if: github.event_name == 'push'
    runs-on: ubuntu-latest
    timeout-minutes: 15
    concurrency: argosy-reconcile
    steps:
      - uses: actions/checkout@v4
      - run: pipx install argosy
      - run: argosy reconcile
        env:
          ARGOSY_AUTHOR_NAME: argosy
          ARGOSY_AUTHOR_EMAIL: argosy@users.noreply.github.com
"""
_GITLAB = """\
# What a change does to every cluster, before it is merged; then one pass for what was merged.
# The first pass, once and by hand: argosy reconcile --bootstrap
# ARGOSY_PUSH_TOKEN is a project access token that may write the repository, as a masked and protected variable.
stages: [check, reconcile]

variables:
  GIT_DEPTH: "0"
  ARGOSY_AUTHOR_NAME: argosy
  ARGOSY_AUTHOR_EMAIL: argosy@noreply.example.com

default:
  image: python:3.13
  before_script:
    - pip install --quiet argosy

check:
  stage: check
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
  script:
    - argosy validate --rev HEAD -o junit > argosy.xml
    - argosy diff --check -o markdown "$CI_MERGE_REQUEST_DIFF_BASE_SHA" HEAD > argosy.md
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
