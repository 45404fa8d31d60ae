#!/usr/bin/env bash
# Shows an upgrade: builds usher as it was at a commit (once, into the cache) and replaces its replicas by this one's
# under load, old and new side by side.
set -euo pipefail
cd "$(dirname "$0")/.."
from=${1:?usage: make upgrade FROM=<commit>}
commit=$(git rev-parse --verify --quiet "$from^{commit}") || { echo "upgrade: there is no commit $from" >&2; exit 1; }
cache=${XDG_CACHE_HOME:-$HOME/.cache}/usher
old=$cache/releases/$commit/usher
if ! [ -x "$old" ]; then
  echo "upgrade: building usher of ${commit:0:12} (once)" >&2
  tree=$(mktemp -d)
  trap 'git worktree remove --force "$tree"; rm -rf "$tree"' EXIT
  git worktree add --quiet --detach "$tree" "$commit"
  # Its own folder of the target directory: the two would exchange each other's results otherwise.
  (cd "$tree" && CARGO_TARGET_DIR=$cache/target-old cargo build --quiet --locked)
  mkdir -p "$(dirname "$old")"
  cp "$cache/target-old/debug/usher" "$old.partial" && mv "$old.partial" "$old"
fi
OLD_USHER=$old ${CARGO:-cargo} test --locked --test cluster replicas_are_replaced -- --nocapture
