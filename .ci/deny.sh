#!/usr/bin/env bash
# Checks licences, sources and banned crates with cargo-deny, installed once into the cache when it is missing.
# The advisory database is not part of this: it has to be fetched, and CI runs without such a network.
set -euo pipefail
cd "$(dirname "$0")/.."
version=0.20.2
tools=${XDG_CACHE_HOME:-$HOME/.cache}/usher/tools-$version
deny=$tools/bin/cargo-deny
if ! [ -x "$deny" ]; then
  echo "deny: installing cargo-deny $version (once; some minutes)" >&2
  CARGO_TARGET_DIR=$tools/target cargo install --quiet --locked --root "$tools" --version "$version" cargo-deny
  rm -rf "$tools/target"
fi
"$deny" --log-level error check licenses bans sources
