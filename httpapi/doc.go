// Package httpapi serves a store over HTTP as a Kubernetes API server would:
// the same paths, verbs, query parameters, media types, answers and errors.
//
// New returns an http.Handler to mount in a mux of the user's own, also under a
// prefix with http.StripPrefix. Its Transport is an http.RoundTripper that
// reaches the handler without a socket, so that a client of any kind can be
// pointed at it inside one process, and inside a testing/synctest bubble.
//
// An API over a fork of the store, see store.Store.Fork, is made by API.Fork.
//
// The paths of kinds that are cluster-scoped leave out namespaces/{ns}. Those of
// kinds of a user's own differ from those of kinds that a server has built in as
// the paths of custom resources do; see place.go and routes.go.
//
// Each verb has a file of its own, named after it, which starts with the query
// parameters it reads. What a verb does to objects is decided in package
// store; what is decided here is how requests are read and answers are written.
package httpapi
