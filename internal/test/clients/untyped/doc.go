// Package untyped tests kubecoord with client-go's clients without Go types: the
// dynamic client and the metadata client.
package untyped
