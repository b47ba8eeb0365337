// Package controllerruntime tests kubecoord with sigs.k8s.io/controller-runtime:
// its client and patch helpers, and managers whose caches, reconcilers and
// leader election run in a bubble, where hours pass at once. All that is asked
// of the server goes through rest.Config.Transport, without a socket.
//
// What client-go does by itself is tested in the packages beside this one.
package controllerruntime
