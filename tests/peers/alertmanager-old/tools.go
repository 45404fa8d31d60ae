//go:build tools

// Package alertmanager pins an Alertmanager that has no silence annotations yet.
package alertmanager

import _ "github.com/prometheus/alertmanager/cmd/alertmanager"
