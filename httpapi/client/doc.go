// Package client reads and writes the objects of a server over HTTP: a kubecoord server, or the
// API server of Kubernetes. It imports none of Kubernetes' libraries, and no package of the server.
//
// A Collection has the methods of store.Collection, with the same arguments, options, events and
// errors. So code for the objects of a store works over a network too, and a Collection of Leases
// is a lease.Client:
//
//	config, err := client.Kubeconfig("")
//	c, err := client.New(config)
//	leases := client.In(c, lease.Kind())
//	contender, err := lease.NewContender(leases, lease.ContenderOptions{...})
//
// Objects have the preferred version of their kind. The server validates them and fills in their
// defaults; the functions of a store.Descriptor are not called.
//
// # Errors
//
// An answer of the server that is an error is a *meta.StatusError, as from a store:
// errors.Is(err, store.ErrConflict). If no answer came, the error wraps the one of net/http and has
// a method Temporary, which reports whether a later request may succeed. It is then unknown whether
// a write took place.
//
// # Repetitions
//
// Requests are repeated as by client-go, at most ten times:
//
//   - any request that is answered 429 with the header Retry-After, when that time has passed;
//   - a read that is answered 500 or more with this header;
//   - a read whose connection is lost, after one second.
//
// A write whose connection is lost, or that is answered 500 or more, is never repeated: it may have
// been done. client-go repeats a write after a 500 with the header.
//
// Watch and Follow go on over many requests. They repeat any read that may succeed later, until
// their context ends.
//
// # Time
//
// A call ends soon after its context, and has no other limit of time: give it a context with a
// deadline. A connection whose other end is gone is found within ten seconds with HTTP/2, which New
// uses over TLS if the server can, and within half a minute otherwise.
package client
