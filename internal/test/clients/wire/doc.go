// Package wire compares the bytes that kubecoord sends with the encoders of
// k8s.io/apimachinery and the generated code of k8s.io/api, for many random
// objects.
//
// Each test prints its seed. WIRE_SEED=n repeats a run. WIRE_OBJECTS=n sets the
// number of objects of each kind.
package wire
