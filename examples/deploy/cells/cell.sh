#!/bin/sh
# Render one cell of a fleet, and apply it where members are reached: cell.sh REPOSITORY CELL [OPTION OF RECONCILE...]
#
# The branch cells/CELL is main with argosy.yaml made of main's cell.yaml, whose {cell} is the number of the cell. It
# follows main, so that trailers of main's commits count in every cell.
set -eu
repository=$1 cell=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone --quiet --no-checkout "$repository" "$work/clone"
cd "$work/clone"

settings=$(git show origin/main:cell.yaml | sed "s/{cell}/$cell/g" | git hash-object -w --stdin)
tree=$({ git ls-tree origin/main | sed '/\targosy\.yaml$/d'; printf '100644 blob %s\targosy.yaml\n' "$settings"; } | git mktree)
before=$(git rev-parse --quiet --verify "origin/cells/$cell") || before=
if [ -z "$before" ] || ! git merge-base --is-ancestor origin/main "$before"; then
  new=$(git commit-tree "$tree" ${before:+-p "$before"} -p origin/main -m "Cell $cell of $(git rev-parse --short origin/main)")
  git push --quiet origin "$new:refs/heads/cells/$cell"
  git update-ref "refs/remotes/origin/cells/$cell" "$new"
fi
git update-ref "refs/heads/cells/$cell" "origin/cells/$cell"
git symbolic-ref HEAD "refs/heads/cells/$cell"
git config "branch.cells/$cell.remote" origin
git config "branch.cells/$cell.merge" "refs/heads/cells/$cell"
argosy -C . reconcile "$@"
