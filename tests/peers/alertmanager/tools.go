//go:build tools

// Package alertmanager pins the Alertmanager whose silences usher keeps, and amtool.
package alertmanager

import (
	_ "github.com/prometheus/alertmanager/cmd/alertmanager"
	_ "github.com/prometheus/alertmanager/cmd/amtool"
)
