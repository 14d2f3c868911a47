#!/bin/sh
# Join what all cells have rendered in one commit of the branch joined: join.sh REPOSITORY CELLS
#
# Its folder clusters has the clusters of all cells, and cells/CELL is what that cell has rendered. Git joins trees by
# their ids: no file is read, and what cells have in common is stored once.
set -eu
repository=${1:-} cells=${2:-}
case $repository,$cells in
  ,* | *, | *,0* | *,*[!0-9]*) echo "usage: join.sh REPOSITORY CELLS, with the number of cells" >&2; exit 2 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git init --quiet --bare "$work"
cd "$work"
last=$((cells - 1))
for cell in $(seq 0 "$last"); do
  git fetch --quiet "$repository" "+refs/heads/argosy-cell-$cell/rendered:refs/rendered/$cell"
done
before=
if git fetch --quiet "$repository" "+refs/heads/joined:refs/heads/joined" 2>/dev/null; then
  before=$(git rev-parse refs/heads/joined)
fi

for cell in $(seq 0 "$last"); do git ls-tree "refs/rendered/$cell:clusters"; done > clusters
twice=$(cut -f 2 clusters | sort | uniq -d)
[ -z "$twice" ] || { echo "in more than one cell: $twice" >&2; exit 1; }
for cell in $(seq 0 "$last"); do printf '040000 tree %s\t%s\n' "$(git rev-parse "refs/rendered/$cell^{tree}")" "$cell"; done > cells
tree=$(printf '040000 tree %s\tcells\n040000 tree %s\tclusters\n' "$(git mktree --missing < cells)" "$(git mktree --missing < clusters)" | git mktree)
[ "$tree" != "$(git rev-parse --quiet --verify "${before:-none}^{tree}")" ] || exit 0
# Who commits is whom git names, or else Argosy, as in passes.
git var GIT_COMMITTER_IDENT > /dev/null 2>&1 || {
  export GIT_AUTHOR_NAME=Argosy GIT_AUTHOR_EMAIL=argosy@localhost
  export GIT_COMMITTER_NAME=Argosy GIT_COMMITTER_EMAIL=argosy@localhost
}
parents=$(for cell in $(seq 0 "$last"); do printf ' -p %s' "$(git rev-parse "refs/rendered/$cell")"; done)
new=$(git commit-tree "$tree" ${before:+-p "$before"} $parents -m "Join $cells cells")
git push --quiet --force-with-lease="refs/heads/joined:$before" "$repository" "$new:refs/heads/joined"
