#!/usr/bin/env bash
# `make demo`: builds usher, shows the offline door at once, and has the real API server built behind it.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/usher/target}
echo "== building usher (seconds when warm, some minutes the first time)"
cargo build --locked --bin usher
# The first result, while kube-apiserver may still have to be built (about 6 minutes, once).
echo "== the offline door: usher check examples (examples/bad is meant to fail)"
"$CARGO_TARGET_DIR/debug/usher" check examples || [ $? -eq 1 ]
echo "== building the demo and, if they are missing, the real API server and Alertmanagers"
cargo build --locked --example demo
tests/peers/build.sh cluster >/dev/null
tests/peers/build.sh alertmanagers >/dev/null
exec "$CARGO_TARGET_DIR/debug/examples/demo"
