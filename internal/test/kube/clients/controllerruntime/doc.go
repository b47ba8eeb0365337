// Package controllerruntime tests kubecoord with managers of sigs.k8s.io/controller-runtime: in a bubble, where hours pass at once, and over
// a socket. The client, its caches and its helpers are in package suites, which runs controller-runtime's own tests.
package controllerruntime
