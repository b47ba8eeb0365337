// Package controllerruntime tests kubecoord with sigs.k8s.io/controller-runtime:
// its client and patch helpers, and managers whose caches, reconcilers and
// leader election run in a bubble, where hours pass at once. All requests go
// through rest.Config.Transport, without a socket.
//
// Other packages of this module test client-go alone.
package controllerruntime
