// Package discovery tests kubecoord with the caches of client-go's discovery clients.
package discovery
