# Two commands matter: `make demo` shows usher at work, `make test` proves it. Both set up what they need.

# Outside the checkout, so that a fresh clone starts warm.
export CARGO_TARGET_DIR ?= $(if $(XDG_CACHE_HOME),$(XDG_CACHE_HOME),$(HOME)/.cache)/usher/target
CARGO ?= cargo

.PHONY: help demo test lint unit languages fidelity tables cluster upgrade deny manifests bench

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 20

demo: ## usher at work on a real API server (KEEP=1 leaves it running)
	@.ci/demo.sh

test: lint unit languages cluster ## everything: formatting, lints, licences, unit and corpus tests, the real API server

lint: deny ## formatting, clippy, documentation, licences
	$(CARGO) fmt --all --check
	$(CARGO) clippy --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --no-deps --locked --quiet

deny: ## licences, sources and duplicate crates
	@.ci/deny.sh

unit: ## unit, corpus, router and TLS tests; no network but loopback
	$(CARGO) test --locked -- --show-output

languages: ## every verdict on LogQL, PromQL, RE2, templates and durations beside the originals' own (built once into the cache)
	$(CARGO) test --locked --test languages -- --nocapture

fidelity: ## the same, written into docs/fidelity.md
	@.ci/fidelity.sh

tables: ## Go's Unicode tables into src/lang/re2/tables.rs
	cd tests/peers/re2-tables && go run . > $(CARGO_TARGET_DIR)/tables.rs
	mv $(CARGO_TARGET_DIR)/tables.rs src/lang/re2/tables.rs
	$(CARGO) fmt

cluster: ## tests on a real kube-apiserver and real Alertmanagers (built once into the cache)
	$(CARGO) test --locked --test cluster -- --nocapture

upgrade: ## replaces replicas of an older commit by this one under load (FROM=<commit>)
	@.ci/upgrade.sh $(FROM)

manifests: ## write crds/, webhooks/, certs/ and docs/codes.md anew
	@mkdir -p webhooks certs
	$(CARGO) run --quiet --locked -- manifests crds --output-dir crds
	$(CARGO) run --quiet --locked -- manifests webhooks > webhooks/webhooks.yaml
	$(CARGO) run --quiet --locked -- manifests rbac > webhooks/rbac.yaml
	$(CARGO) run --quiet --locked -- manifests deploy > webhooks/deploy.yaml
	$(CARGO) run --quiet --locked -- manifests certs > certs/cert-manager.yaml
	$(CARGO) run --quiet --locked -- explain all > docs/codes.md

bench: ## side-by-side numbers into docs/benchmarks.md
	@.ci/bench.sh
