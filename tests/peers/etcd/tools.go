//go:build tools

// Package etcd pins the etcd that the tests' API server stores into.
package etcd

import _ "go.etcd.io/etcd/server/v3"
