// Package controlplane has what the servers of packages envtest and assets make of the flags of a kube-apiserver: who a request
// is from, who may do what, and which admission plugins run.
package controlplane
