// Package cluster compares what a server does beside keeping objects with a kube-apiserver: admission, namespaces, evictions,
// reviews and deletion. It plays the same requests to both, with webhooks that it serves itself. README.md describes its files.
package cluster
