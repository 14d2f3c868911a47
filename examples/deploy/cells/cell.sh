#!/bin/sh
# Render one cell of a fleet, and apply it where members are reached: cell.sh REPOSITORY CELL [OPTION OF RECONCILE...]
#
# The branch cells/CELL is main with argosy.yaml made of main's cell.yaml, whose {cell} is the number of the cell. It
# follows main, so that trailers of main's commits count in every cell.
set -eu
repository=${1:-} cell=${2:-}
case $repository,$cell in
  ,* | *, | *,*[!0-9]*) echo "usage: cell.sh REPOSITORY CELL [OPTION OF RECONCILE...], with a number for CELL" >&2; exit 2 ;;
esac
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Of the branches that cells have, those of this one are fetched: together they are as large as the whole fleet.
git init --quiet "$work/clone"
cd "$work/clone"
git remote add origin "$repository"
git fetch --quiet --no-tags origin "+refs/heads/main:refs/remotes/origin/main" \
  "+refs/heads/cells/$cell*:refs/remotes/origin/cells/$cell*" \
  "+refs/heads/argosy-cell-$cell/*:refs/remotes/origin/argosy-cell-$cell/*"

settings=$(git show origin/main:cell.yaml)
blob=$(printf '%s\n' "$settings" | sed "s/{cell}/$cell/g" | git hash-object -w --stdin)
export GIT_INDEX_FILE="$work/index"
git read-tree origin/main
git update-index --add --cacheinfo "100644,$blob,argosy.yaml"
tree=$(git write-tree)
unset GIT_INDEX_FILE
before=$(git rev-parse --quiet --verify "origin/cells/$cell") || before=
if [ -z "$before" ] || [ "$tree" != "$(git rev-parse "$before^{tree}")" ] || ! git merge-base --is-ancestor origin/main "$before"; then
  # Who commits is whom git names, or else Argosy, as in passes.
  git var GIT_COMMITTER_IDENT > /dev/null 2>&1 || {
    export GIT_AUTHOR_NAME=Argosy GIT_AUTHOR_EMAIL=argosy@localhost
    export GIT_COMMITTER_NAME=Argosy GIT_COMMITTER_EMAIL=argosy@localhost
  }
  new=$(git commit-tree "$tree" ${before:+-p "$before"} -p origin/main -m "Cell $cell of $(git rev-parse --short origin/main)")
  git push --quiet origin "$new:refs/heads/cells/$cell"
  git update-ref "refs/remotes/origin/cells/$cell" "$new"
fi
git update-ref "refs/heads/cells/$cell" "origin/cells/$cell"
git symbolic-ref HEAD "refs/heads/cells/$cell"
git config "branch.cells/$cell.remote" origin
git config "branch.cells/$cell.merge" "refs/heads/cells/$cell"
argosy -C . reconcile "$@"
