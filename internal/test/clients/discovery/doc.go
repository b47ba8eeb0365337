// Package discovery tests kubecoord with client-go's discovery clients, with
// and without caches, and with the REST mapper built on them.
package discovery
