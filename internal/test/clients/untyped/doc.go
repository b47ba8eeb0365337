// Package untyped tests kubecoord with client-go's clients that know no Go
// types: the dynamic client, and the one for metadata alone.
package untyped
