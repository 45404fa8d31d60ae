#!/usr/bin/env bash
# Runs the languages beside the originals and writes what was compared into docs/fidelity.md. A disagreement fails the run,
# and the page stays as it was.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/usher/target}
page=$(mktemp)
trap 'rm -f "$page"' EXIT
echo "fidelity: comparing (some minutes)" >&2
USHER_FIDELITY=$page ${CARGO:-cargo} test --locked --test languages -- --nocapture --test-threads=1 >&2
{
  cat docs/fidelity.head.md
  sort "$page"
  cat docs/fidelity.tail.md
} > docs/fidelity.md
echo "fidelity: written to docs/fidelity.md" >&2
