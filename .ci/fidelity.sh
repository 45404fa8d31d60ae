#!/usr/bin/env bash
# Runs the languages beside the originals and writes what was compared into docs/fidelity.md. A disagreement fails the run,
# and the page stays as it was.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/usher/target}
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
echo "fidelity: comparing (some minutes)" >&2
FIDELITY_ROWS=$rows ${CARGO:-cargo} test --locked --test languages -- --nocapture >&2
{
  cat <<'HEAD'
# Fidelity

Written by `make fidelity`; `make test` runs the same comparison and fails on the first disagreement, with the smallest text
that shows it. usher's verdict (accepted or refused) is compared with that of the program that will read the text. `CASES=`
and `SEED=` ask for more or other texts.

| what | original | texts | accepted | disagreements |
|---|---|---|---|---|
HEAD
  LC_ALL=C sort "$rows"
  cat docs/fidelity-notes.md
} > docs/fidelity.md
echo "fidelity: written to docs/fidelity.md" >&2
