// Package differential compares kubecoord with the libraries of Kubernetes, with generated cases: both get the same requests and
// must return equal answers, and both encode the same values to equal bytes.
//
// Every test prints its seed, and every failure names the seed and the case. The same seed makes the same cases:
//
//	go test ./differential -run TestManagedFields -seed 42 -case 17 -v
//	go test ./differential -cases 20000
//
// The reference is the real handlers, registry and field manager of k8s.io/apiserver and k8s.io/apimachinery, with a map
// instead of etcd. See reference_test.go.
package differential
