// Package wire compares the bytes of lists, events and metadata that kubecoord sends with
// the encoders of k8s.io/apimachinery and the generated code of k8s.io/api. For single
// objects with any values, package referee/differential does.
package wire
