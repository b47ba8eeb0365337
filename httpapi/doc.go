// Package httpapi serves a store over HTTP as a Kubernetes API server would:
// the same paths, verbs, query parameters, media types, answers and errors.
//
// New returns an http.Handler. Mount it in any mux, also under a prefix with
// http.StripPrefix. API.Transport is an http.RoundTripper that reaches the handler
// without a socket, for clients in the same process or testing/synctest bubble.
// API.Fork returns an API over a fork of the store (store.Store.Fork).
//
// Kinds that are not Native follow the rules of custom resources: their bodies must
// name apiVersion and kind, and some errors and paths differ.
package httpapi
