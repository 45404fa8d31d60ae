#!/usr/bin/env bash
# Measures usher beside a bare echo server in one run and writes docs/benchmarks.md. SECONDS_EACH=4 sets the time of each
# row, PART=silences measures that section alone, ROUNDS=2 how often. Instruction counts need valgrind; without it the
# table says so.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/usher/target}
command -v valgrind >/dev/null || echo "bench: valgrind is not installed; instructions will not be counted" >&2
echo "bench: building (optimised; some minutes the first time)" >&2
cargo bench --locked --bench door
