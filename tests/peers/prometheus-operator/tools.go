//go:build tools

// Package operator pins prometheus-operator: its admission webhook, which benchmarks run beside usher, and its CRDs.
package operator

import _ "github.com/prometheus-operator/prometheus-operator/cmd/admission-webhook"
