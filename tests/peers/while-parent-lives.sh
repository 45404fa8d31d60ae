#!/usr/bin/env bash
# Runs a program for as long as the caller lives: when standard input closes (the caller ended, in whatever way), the
# program is ended and the scratch directory removed.
#
#   while-parent-lives.sh SCRATCH_DIR PROGRAM ARGS…
scratch=$1
shift
"$@" </dev/null &
pid=$!
end() {
  trap - EXIT
  kill "$pid" 2>/dev/null
  for _ in $(seq 50); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
  kill -9 "$pid" 2>/dev/null
  wait "$pid" 2>/dev/null
  rm -rf "$scratch"
}
trap end EXIT
trap exit INT TERM HUP
cat >/dev/null
