// Package kinds compares kubecoord with a kube-apiserver, kind by kind: it plays the same requests to both, and compares the answers.
// README.md describes its files.
package kinds
