// Package informers tests kubecoord with client-go's informers, which fill a
// cache from a list and a watch, or from one stream that has both (WatchList).
package informers
