// Package kinds compares kubecoord with a kube-apiserver, kind by kind: it plays the same requests to both, and compares the answers.
//
// testdata/discovery has what a kube-apiserver 1.36.3 serves by default. Command discovery records it.
package kinds
