// Package differential holds kubecoord against the libraries of Kubernetes, with generated cases: requests go to both and the
// answers must be the same, values go through both and the bytes must be the same.
//
// Every test prints its seed, and every failure names the seed and the case. The same seed makes the same cases:
//
//	go test ./differential -run TestManagedFields -seed 42 -case 17 -v
//	go test ./differential -cases 20000
//
// The reference is no mock: it is the handlers, the registry and the field manager of k8s.io/apiserver and
// k8s.io/apimachinery over a map in place of etcd. See reference_test.go.
package differential
