// Package bench holds benchmarks that compare kubecoord with the libraries of
// Kubernetes in one run, so that the ratios hold on any machine:
//
//	go test -run '^$' -bench . -benchmem ./bench
//
// A ratio is the time of kubecoord divided by the time of the other: below 1
// kubecoord is faster. No benchmark fails because it is slow.
package bench
