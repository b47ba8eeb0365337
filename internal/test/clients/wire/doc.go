// Package wire holds the bytes that kubecoord sends against those of the
// encoders of k8s.io/apimachinery and the generated code of k8s.io/api, over
// many random objects.
//
// Each test prints its seed. WIRE_SEED=n repeats a run, WIRE_OBJECTS=n sets how
// many objects of each kind it takes.
package wire
